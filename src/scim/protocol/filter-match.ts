import type { Filter } from './filter.js';
import type { ScimObject } from './json.js';

/** Whether a resource, as it would be sent with all of its attributes, satisfies a filter. */
export function matches(_filter: Filter, _resource: ScimObject): boolean {
  throw new Error('not written yet');
}
