import { ModernFakeTimers } from '@jest/fake-timers';
import { TestEnvironment } from 'jest-environment-node';
import { createRequire } from 'node:module';

/** What tests and the service must share: the service runs outside the sandbox of a test file (transform.mjs). `Promise` is not shared: the promises of async functions are those of the sandbox. */
const SHARED = ['Date', 'Error', 'TypeError', 'RangeError', 'SyntaxError', 'AggregateError', 'Reflect'];
const TIMERS = [
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'setImmediate',
  'clearImmediate',
];

/** The sandbox of a test file. Its clock, timers and errors are those of the service. */
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
    // What the modules that transform.mjs writes call. In the sandbox Jest replaces all that Node.js has for it.
    Object.defineProperty(this.global, 'loadNative', { value: createRequire(import.meta.url) });
    this.fakeTimersModern = new ModernFakeTimers({ config: config.projectConfig, global: globalThis });
  }

  async teardown() {
    this.fakeTimersModern.useRealTimers();
    this.moduleMocker.restoreAllMocks();
    await super.teardown();
  }
}
