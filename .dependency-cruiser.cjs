/** The layers of the house (docs/architecture.md). A rule that only stands in a document does not hold. */
const features = '^src/(users|sessions|api-keys|audit|import|status|setup)/';

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'foundations-know-no-feature',
      severity: 'error',
      from: { path: '^src/(common|config|access)/' },
      to: { path: features },
    },
    {
      name: 'access-does-no-io',
      severity: 'error',
      from: { path: '^src/access/' },
      to: { path: '^src/(database|config)/' },
    },
    {
      name: 'controllers-know-no-repository',
      severity: 'error',
      from: { path: '\\.controller\\.ts$' },
      to: { path: ['\\.repository\\.ts$', '\\.entity\\.ts$', '^src/database/', 'node_modules/typeorm'] },
    },
    {
      name: 'only-the-database-knows-typeorm',
      severity: 'error',
      from: { path: '^src/', pathNot: ['\\.entity\\.ts$', '\\.repository\\.ts$', '^src/database/'] },
      to: { path: 'node_modules/typeorm' },
    },
    {
      name: 'a-repository-belongs-to-its-feature',
      comment: 'A feature uses another one through its service.',
      severity: 'error',
      from: { path: '^src/([^/]+)/', pathNot: ['^src/database/entities\\.ts$'] },
      to: { path: '^src/[^/]+/.+\\.(repository|entity)\\.ts$', pathNot: ['^src/$1/'] },
    },
    {
      name: 'auth-is-a-root',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/auth/', '^src/app\\.module\\.ts$'] },
      to: { path: '^src/auth/' },
    },
    {
      name: 'the-command-line-is-a-root',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/cli/', '^src/cli\\.ts$'] },
      to: { path: '^src/cli/' },
    },
    {
      name: 'no-unlisted-package',
      severity: 'error',
      from: {},
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'src-needs-no-dev-package',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};
