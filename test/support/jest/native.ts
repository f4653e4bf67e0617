import type * as Vm from 'node:vm';

/** Loads a module as Node.js does, outside the sandbox of the test file, where Jest replaces some of Node's own modules. */
export const { loadNative } = globalThis as typeof globalThis & { loadNative: (name: string) => unknown };

/** The globals that the service has. The sandbox has an `Object` and a `String` of its own. */
export const service = (loadNative('node:vm') as typeof Vm).runInThisContext(
  'globalThis',
) as typeof globalThis;
