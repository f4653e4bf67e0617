import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** Folders of tests that depend on the database. They run on every engine. Other tests run once, on SQLite. */
const STORED = [
  'api-keys',
  'audit',
  'cluster',
  'database',
  'groups',
  'import',
  'operations',
  'sessions',
  'users',
];

const { dependencies, devDependencies } = JSON.parse(
  readFileSync(new URL('package.json', import.meta.url), 'utf8'),
);
/** Packages that tests and the service share (test/support/jest/transform.mjs). */
const PACKAGES = Object.keys({ ...dependencies, ...devDependencies }).filter((name) => !/jest/.test(name));

/** Test files that set the clock far ahead. Each loads a separate service, so that other files are not affected. */
const CLOCK = `
  clock import-events import-purge import-schedule login-throttle login-throttle-address own-password profiles-runs purge
  session-life sqlite-lock
`.match(/\S+/g);

const swc = {
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
    keepClassNames: true,
  },
  module: { type: 'es6' },
};
const alone = {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: { '^.+\\.ts$': ['@swc/jest', swc] },
  setupFiles: ['<rootDir>/test/support/app/setup.ts'],
};
const shared = {
  ...alone,
  testEnvironment: '<rootDir>/test/support/jest/environment.mjs',
  transform: { '^.+\\.[cm]?[jt]s$': ['<rootDir>/test/support/jest/transform.mjs', swc] },
  transformIgnorePatterns: [`/node_modules/(?!(${PACKAGES.join('|')})/)`],
};

/**
 * End-to-end tests run on `sqlite`. They also run on `mariadb` if TEST_DATABASE_URL names a server, or on a throwaway
 * server if `mariadbd` is installed. ENGINES=sqlite,mariadb selects the engines.
 */
const unit = { ...shared, displayName: 'unit', testMatch: ['<rootDir>/test/**/*.spec.ts'] };
const buildProjects = (name) => {
  const folders = name === 'mariadb' ? `{${STORED.join(',')}}` : '*';
  const prepared = {
    globals: { ENGINE: name },
    globalSetup: `<rootDir>/test/support/jest/start-${name}.mjs`,
    globalTeardown: '<rootDir>/test/support/jest/stop.mjs',
  };
  return [
    {
      ...shared,
      ...prepared,
      displayName: name,
      testMatch: [`<rootDir>/test/${folders}/**/*.e2e-spec.ts`],
      testPathIgnorePatterns: [`/(${CLOCK.join('|')})\\.e2e-spec\\.ts$`],
    },
    {
      ...alone,
      ...prepared,
      displayName: `${name}, clock`,
      testMatch: [`<rootDir>/test/${folders}/{${CLOCK.join(',')}}.e2e-spec.ts`],
    },
  ];
};

function selectEngines() {
  if (process.env.ENGINES) return process.env.ENGINES.split(',');
  const hasMariadb =
    process.env.TEST_DATABASE_URL !== undefined || spawnSync('mariadbd', ['--version']).status === 0;
  if (hasMariadb) return ['sqlite', 'mariadb'];
  console.warn('MariaDB is not installed: the tests run on SQLite only (see CONTRIBUTING.md).');
  return ['sqlite'];
}

export default {
  // Ends a test that hangs. No test may depend on the speed of the machine.
  testTimeout: 400_000,
  // Node.js never frees the modules of a test file, about 20 MB each, so one process for all files would become slower
  // and run out of memory. With a limit Jest uses workers on any machine, and replaces workers that exceed it.
  workerIdleMemoryLimit: '1GB',
  // One worker more than cores, because some tests wait for processes and timers.
  maxWorkers: availableParallelism() + 1,
  testSequencer: '<rootDir>/test/support/jest/sequencer.mjs',
  projects: [unit, ...selectEngines().flatMap(buildProjects)],
};
