import type { Attribute } from './attribute.js';
import type { ScimObject } from './json.js';
import type { ResourceDescription } from './resource-description.js';

/** Which attributes an answer holds (RFC 7644 §3.9). */
export interface Projection {
  /** Whether any part of the attribute is sent: what is not wanted need not be read. */
  wants(attribute: Attribute): boolean;
  /** The resource with the wanted attributes. `schemas` names the extensions that are left. */
  apply(resource: ScimObject): ScimObject;
}

/**
 * @param attributes,excludedAttributes a text with commas, or a list of names
 * @throws ProblemError `invalid_value` when both are set
 */
export function projection(
  _resource: ResourceDescription,
  _parameters: { attributes?: unknown; excludedAttributes?: unknown },
): Projection {
  throw new Error('not written yet');
}
