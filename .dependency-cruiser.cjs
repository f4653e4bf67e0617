/**
 * The floors of src, from the roof down (docs/architecture.md). A file imports from its own floor and from those below.
 * '.' stands for the files of the folder itself.
 */
const house = [
  ['.'],
  ['cluster', 'cli', 'setup', 'status', 'console'],
  ['backup'],
  ['import'],
  ['auth'],
  ['scim'],
  ['users'],
  ['sessions', 'api-keys', 'audit', 'idempotency', 'leases'],
  ['access'],
  ['database'],
  ['http'],
  ['telemetry', 'input'],
  ['common', 'config'],
];

/** The floors of the features that have more than one. */
const rooms = {
  import: [['.'], ['alerts', 'schedule', 'report', 'apply'], ['plan', 'profiles', 'file'], ['runs']],
  scim: [['.'], ['bulk'], ['users', 'groups'], ['discovery'], ['http'], ['protocol']],
  users: [
    ['.'],
    ['history', 'passwords'],
    ['directory', 'search'],
    ['change'],
    ['counts'],
    ['input'],
    ['model'],
  ],
  database: [['.'], ['migrations', 'engine']],
};

/** The floors of the console, a program of its own that runs in a browser. */
const consoleFloors = [['.'], ['pages'], ['parts'], ['api'], ['lib'], ['style']];

const filesOf = (folder, floors) =>
  floors.flat().map((name) => (name === '.' ? `^${folder}/[^/]+$` : `^${folder}/${name}/`));

/** A rule for each floor below the roof, and one that finds folders without a floor. */
const floorRules = (folder, floors) => [
  ...floors.slice(1).map((floor, index) => ({
    name: `nothing-above-${folder}/${floor.join(',')}`,
    comment: 'Nothing imports upwards.',
    severity: 'error',
    from: { path: filesOf(folder, floor) },
    to: { path: filesOf(folder, floors.slice(0, index + 1)) },
  })),
  {
    name: `every-folder-of-${folder}-has-a-floor`,
    severity: 'error',
    from: {},
    to: { path: `^${folder}/`, pathNot: filesOf(folder, floors) },
  },
];

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    ...floorRules('src', house),
    ...Object.entries(rooms).flatMap(([feature, floors]) => floorRules(`src/${feature}`, floors)),
    ...floorRules('console', consoleFloors),
    {
      name: 'console-and-service-share-the-interface-alone',
      severity: 'error',
      from: { path: '^(src|console)/' },
      to: { path: '^(src|console)/', pathNot: ['^$1/'] },
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
      from: { path: '^src/([^/]+)/' },
      to: { path: '^src/[^/]+/.+\\.(repository|entity)\\.ts$', pathNot: ['^src/$1/'] },
    },
    {
      name: 'only-the-list-of-entities-spans-features',
      comment: 'src/entities.ts names every entity for the data source; the other root files use services.',
      severity: 'error',
      from: { path: '^src/[^/]+$', pathNot: ['^src/entities\\.ts$'] },
      to: { path: '\\.(repository|entity)\\.ts$' },
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
