import { ModernFakeTimers } from '@jest/fake-timers';
import { TestEnvironment } from 'jest-environment-node';
import { createRequire } from 'node:module';

/**
 * Globals that tests and the service share, although the service runs outside the sandbox of a test file
 * (transform.mjs). `Promise` is not shared, because async functions in the sandbox return promises of the sandbox.
 */
const SHARED = ['Date', 'Error', 'TypeError', 'RangeError', 'SyntaxError', 'AggregateError', 'Reflect'];
const TIMERS = ['Timeout', 'Interval', 'Immediate'].flatMap((name) => [`set${name}`, `clear${name}`]);

/** The sandbox of a test file, with the clock, timers and error classes of the service. */
export default class ServiceEnvironment extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    for (const name of [...SHARED, ...TIMERS])
      Object.defineProperty(this.global, name, {
        configurable: true,
        get: () => globalThis[name],
        set: (value) => {
          globalThis[name] = value;
        },
      });
    // The modules that transform.mjs generates call this function. In the sandbox, Jest replaces all module loading of
    // Node.js.
    Object.defineProperty(this.global, 'loadNative', { value: createRequire(import.meta.url) });
    this.fakeTimersModern = new ModernFakeTimers({ config: config.projectConfig, global: globalThis });
  }

  async teardown() {
    this.fakeTimersModern.useRealTimers();
    this.moduleMocker.restoreAllMocks();
    await super.teardown();
  }
}
