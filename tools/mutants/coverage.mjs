import { mkdirSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join, relative } from 'node:path';

/** Files of the build and the sources, whose calls are counted. */
const COUNTED = /\/(build|dist|src)\/[^:]*\.[jt]s$/;

/**
 * Returns an environment of Jest that writes which code a test file calls, in the format of NODE_V8_COVERAGE, into a
 * folder for each test file in MUTANTS_COVERAGE. Node.js passes NODE_V8_COVERAGE on to all processes that the tests
 * start.
 */
export const recordCoverage = (Environment) =>
  class extends Environment {
    constructor(config, context) {
      super(config, context);
      const name = `${config.projectConfig.displayName.name}/${relative(config.globalConfig.rootDir, context.testPath)}`;
      this.folder = join(process.env.MUTANTS_COVERAGE, encodeURIComponent(name));
    }

    async setup() {
      await super.setup();
      mkdirSync(this.folder, { recursive: true });
      process.env.NODE_V8_COVERAGE = this.folder;
      this.session = new Session();
      this.session.connect();
      await this.session.post('Profiler.enable');
      await this.session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
    }

    async teardown() {
      const { result } = await this.session.post('Profiler.takePreciseCoverage');
      const counted = result.filter(({ url }) => COUNTED.test(url));
      writeFileSync(join(this.folder, 'worker.json'), JSON.stringify({ result: counted }));
      this.session.disconnect();
      await super.teardown();
    }
  };
