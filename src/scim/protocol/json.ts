/** JSON as SCIM resources hold it: null, `""` and `[]` mean "no value" (RFC 7643 §2.5) and are left out. */
export type ScimValue = string | number | boolean | readonly ScimValue[] | ScimObject;
export interface ScimObject {
  readonly [name: string]: ScimValue;
}

export function isScimObject(value: ScimValue | undefined): value is ScimObject {
  return typeof value === 'object' && !Array.isArray(value);
}

/** The own member of an object: names such as `constructor` are not found in the prototype. */
export function member(object: ScimObject, name: string): ScimValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** The elements of a list; of a single value, itself. */
export function elementsOf(value: ScimValue | undefined): readonly ScimValue[] {
  if (value === undefined) return [];
  return isList(value) ? value : [value];
}

function isList(value: unknown): value is readonly ScimValue[] {
  return Array.isArray(value);
}
