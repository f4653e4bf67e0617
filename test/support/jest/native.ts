import type * as Vm from 'node:vm';

/** Loads a module with Node.js, outside the sandbox of the test file, in which Jest replaces some built-in modules. */
export const { loadNative } = globalThis as typeof globalThis & { loadNative: (name: string) => unknown };

/** Globals of the service. The sandbox has a separate `Object` and `String`. */
export const service = (loadNative('node:vm') as typeof Vm).runInThisContext(
  'globalThis',
) as typeof globalThis;
