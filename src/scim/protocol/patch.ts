import type { Filter } from './filter.js';
import type { ScimObject } from './json.js';
import { type PatchOptions, type PatchStep, readPatch } from './patch-steps.js';

/** The resource after the steps, in order. The input is not changed. @throws ProblemError no_target, invalid_value */
export function applySteps(
  _resource: ScimObject,
  _steps: readonly PatchStep[],
  _options: PatchOptions,
): ScimObject {
  throw new Error('not written yet');
}

/** `readPatch` and `applySteps`. */
export function applyPatch(resource: ScimObject, body: unknown, options: PatchOptions): ScimObject {
  return applySteps(resource, readPatch(body, options), options);
}

/** The values that a filter of elements names by `value eq "…"` joined by `or`; undefined for any other filter. */
export function namedValues(_filter: Filter): string[] | undefined {
  throw new Error('not written yet');
}
