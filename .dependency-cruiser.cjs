/**
 * The layers of src, from the top down (docs/architecture.md). A file imports from its own layer and from lower layers.
 * '.' stands for the files of the folder itself.
 */
const layers = [
  ['.'],
  ['cli'],
  ['operations', 'console'],
  ['import'],
  ['auth'],
  ['scim'],
  ['groups'],
  ['users'],
  ['sessions', 'api-keys', 'audit', 'idempotency'],
  ['access'],
  ['platform'],
];

/** Layers inside folders. */
const innerLayers = {
  platform: [['database', 'openapi'], ['http'], ['telemetry', 'input'], ['common', 'config']],
  'platform/database': [['.'], ['installation', 'leases', 'migrations'], ['sqlite', 'mysql', 'engine']],
  operations: [['.'], ['cluster'], ['start', 'health', 'doctor'], ['backup']],
  import: [['.'], ['alerts', 'schedule', 'report', 'apply'], ['plan', 'guards', 'mapping', 'file'], ['runs']],
  scim: [['.'], ['bulk'], ['users', 'groups'], ['discovery'], ['http'], ['protocol']],
  users: [['.'], ['passwords'], ['search'], ['writer'], ['set-rules'], ['rules'], ['model']],
};

/** The layers of the console, a separate program for browsers. */
const consoleLayers = [['.'], ['pages'], ['parts'], ['api'], ['lib'], ['style']];

const toPatterns = (folder, layers) =>
  layers.flat().map((name) => (name === '.' ? `^${folder}/[^/]+$` : `^${folder}/${name}/`));

/** Builds a rule for each layer below the first, and a rule that finds folders without a layer. */
const buildLayerRules = (folder, layers) => [
  ...layers.slice(1).map((layer, index) => ({
    name: `no-higher-layer-${folder}/${layer.join(',')}`,
    comment: 'Lower layers never import from higher layers.',
    severity: 'error',
    from: { path: toPatterns(folder, layer) },
    to: { path: toPatterns(folder, layers.slice(0, index + 1)) },
  })),
  {
    name: `every-folder-of-${folder}-has-a-layer`,
    severity: 'error',
    from: {},
    to: { path: `^${folder}/`, pathNot: toPatterns(folder, layers) },
  },
];

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    ...buildLayerRules('src', layers),
    ...Object.entries(innerLayers).flatMap(([folder, inner]) => buildLayerRules(`src/${folder}`, inner)),
    ...buildLayerRules('console', consoleLayers),
    {
      name: 'console-and-service-share-only-the-interface',
      severity: 'error',
      from: { path: '^(src|console)/' },
      to: { path: '^(src|console)/', pathNot: ['^$1/'] },
    },
    {
      name: 'controllers-use-no-repository',
      severity: 'error',
      from: { path: '\\.controller\\.ts$' },
      to: {
        path: ['\\.repository\\.ts$', '\\.entity\\.ts$', '^src/platform/database/', 'node_modules/typeorm'],
      },
    },
    {
      name: 'only-the-database-imports-typeorm',
      severity: 'error',
      from: { path: '^src/', pathNot: ['\\.entity\\.ts$', '\\.repository\\.ts$', '^src/platform/database/'] },
      to: { path: 'node_modules/typeorm' },
    },
    {
      name: 'a-repository-belongs-to-its-feature',
      comment: 'A feature uses another feature through its service.',
      severity: 'error',
      from: { path: '^src/([^/]+)/' },
      to: { path: '^src/[^/]+/.+\\.(repository|entity)\\.ts$', pathNot: ['^src/$1/'] },
    },
    {
      name: 'only-the-list-of-entities-spans-features',
      comment: 'src/entities.ts lists every entity for the data source. Other root files use services.',
      severity: 'error',
      from: { path: '^src/[^/]+$', pathNot: ['^src/entities\\.ts$'] },
      to: { path: '\\.(repository|entity)\\.ts$' },
    },
    {
      name: 'only-the-app-module-imports-auth',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/auth/', '^src/app\\.module\\.ts$'] },
      to: { path: '^src/auth/' },
    },
    {
      name: 'only-the-program-imports-the-command-line',
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
      name: 'src-uses-no-dev-package',
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
