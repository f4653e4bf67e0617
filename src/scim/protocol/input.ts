import type { ScimObject } from './json.js';
import type { Deviation } from './patch-steps.js';
import type { ResourceDescription } from './resource-description.js';

export interface ValueError {
  /** As in the schema, with the index of an element: `emails[1].value`. */
  path: string;
  message: string;
}

export interface ReadResource {
  /** Known, writable attributes in the spelling and the types of the schema; nothing empty. */
  resource: ScimObject;
  /** Top-level attributes that the body named with an empty value (null, "" or []): to be unassigned. */
  unassigned: ReadonlySet<string>;
  /** URNs of the extensions named in `schemas` or in the body. */
  extensions: ReadonlySet<string>;
  errors: ValueError[];
}

/** A POST or PUT body. @throws ProblemError invalid_syntax when it is no object */
export function readResource(
  _body: unknown,
  _resource: ResourceDescription,
  _deviation: (kind: Deviation) => void = () => undefined,
): ReadResource {
  throw new Error('not written yet');
}
