import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/**
 * The same end-to-end files run on every engine: `sqlite` always, `mariadb` where TEST_DATABASE_URL names a server
 * or `mariadbd` is installed (a throwaway instance is started then). ENGINES=sqlite,mariadb selects exactly these.
 */
const shared = {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
          keepClassNames: true,
        },
        module: { type: 'es6' },
      },
    ],
  },
  setupFiles: ['<rootDir>/test/support/setup.ts'],
};

const unit = { ...shared, displayName: 'unit', testMatch: ['<rootDir>/test/**/*.spec.ts'] };
const engine = (name) => ({
  ...shared,
  displayName: name,
  testMatch: ['<rootDir>/test/**/*.e2e-spec.ts'],
  globals: { ENGINE: name },
  ...(name === 'mariadb' && {
    globalSetup: '<rootDir>/test/support/mariadb.start.ts',
    globalTeardown: '<rootDir>/test/support/mariadb.stop.ts',
  }),
});

function engines() {
  if (process.env.ENGINES) return process.env.ENGINES.split(',');
  const hasMariadb =
    process.env.TEST_DATABASE_URL !== undefined || spawnSync('mariadbd', ['--version']).status === 0;
  if (hasMariadb) return ['sqlite', 'mariadb'];
  console.warn('MariaDB is not installed: the tests run on SQLite only (see CONTRIBUTING.md).');
  return ['sqlite'];
}

export default {
  testTimeout: 30_000,
  // Node.js never frees the modules of a tested file, some 20 MB each: one process for all files would get slower and run
  // out of memory. With a limit Jest uses workers on any machine, and replaces those above it.
  workerIdleMemoryLimit: '1GB',
  // Most tests wait for processes and timers: with Jest's default, one worker on two cores, half of the machine is idle.
  maxWorkers: Math.max(2, availableParallelism()),
  projects: [unit, ...engines().map(engine)],
};
