// The tests of the project, in the order in which they find faults fastest. With MUTANTS_COVERAGE, the coverage of each
// file is recorded.
import { join } from 'node:path';
import config from '../../jest.config.mjs';

const ROOT = join(import.meta.dirname, '../..');
const record = (project) => ({
  ...project,
  testEnvironment: join(
    import.meta.dirname,
    project.testEnvironment === 'node' ? 'coverage-alone.mjs' : 'coverage-shared.mjs',
  ),
});

export default {
  ...config,
  rootDir: ROOT,
  testSequencer: join(import.meta.dirname, 'sequencer.mjs'),
  projects: config.projects.map((project) => ({
    ...(process.env.MUTANTS_COVERAGE ? record(project) : project),
    rootDir: ROOT,
  })),
};
