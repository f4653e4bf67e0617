import { ProblemError } from '../../platform/common/errors.js';
import { isEmailAddress } from '../../users/model/formats.js';
import type { ProfileRules } from '../http/key-rules.js';
import { type ReadResource } from '../protocol/input.js';
import {
  type Attribute,
  type ResourceDescription,
  type ScimObject,
  type ScimValue,
  elementsOf,
  isScimObject,
  member,
} from '../protocol/attribute.js';
import type { PatchOptions, PatchStep } from '../protocol/read-patch.js';
import { applySteps } from '../protocol/apply-patch.js';

/** A user as a request wants it. */
export interface Wanted {
  resource: ScimObject;
  /** A text is set, null removes it; undefined: it stays. */
  password: string | null | undefined;
}

/** What a PUT that says nothing of them leaves alone (scim.md, section 6). */
const STAYS = ['active', 'roles', 'emails'];

/** A new user: active, where nothing else is said. */
export function created({ resource, unassigned }: ReadResource, rules: ProfileRules): Wanted {
  assertActive(unassigned.has('active'));
  return split({ active: true, ...resource }, undefined, rules);
}

/**
 * A user after a PUT. What it omits is unassigned, except for some attributes, and for extensions that it does not name, or
 * stays by the rules of the profile.
 * @throws ProblemError `mutability` where it would leave the user without `active`.
 */
export function replaced(
  current: ScimObject,
  { resource, unassigned, extensions }: ReadResource,
  description: ResourceDescription,
  rules: ProfileRules,
): Wanted {
  assertActive(unassigned.has('active'));
  const stays = ({ name, schema }: Attribute): boolean =>
    rules.keepsOmitted || (schema === undefined ? STAYS.includes(name) : !extensions.has(schema));
  const core: Record<string, ScimValue> = {};
  const inExtensions: Record<string, Record<string, ScimValue>> = {};
  for (const attribute of description.attributes) {
    const kept = stays(attribute) && !unassigned.has(attribute.path) ? attribute.valueIn(current) : undefined;
    const value = attribute.valueIn(resource) ?? kept;
    if (value === undefined) continue;
    const holder = attribute.schema === undefined ? core : (inExtensions[attribute.schema] ??= {});
    holder[attribute.name] = value;
  }
  return split({ ...core, ...inExtensions }, unassigned.has('password') ? null : undefined, rules);
}

/**
 * A user after a PATCH.
 * @throws ProblemError as `applySteps`; `mutability` where it would be left without `active` or an e-mail address.
 */
export function patchedBy(
  current: ScimObject,
  steps: readonly PatchStep[],
  options: PatchOptions,
  rules: ProfileRules,
): Wanted {
  const after = applySteps(current, steps, options);
  assertActive(member(after, 'active') === undefined);
  const userName = member(after, 'userName');
  if (member(after, 'emails') === undefined && !(typeof userName === 'string' && isEmailAddress(userName))) {
    throw new ProblemError('mutability', 'emails cannot be removed: userName is no e-mail address.');
  }
  const touches = steps.some(({ target }) => target.attribute.name === 'password');
  return split(after, touches ? null : undefined, rules);
}

function assertActive(isGone: boolean): void {
  if (isGone) throw new ProblemError('mutability', 'active cannot be removed: set it to true or false.');
}

/** @param otherwise the password where none is set. */
function split(resource: ScimObject, otherwise: null | undefined, rules: ProfileRules): Wanted {
  const { password, ...rest } = resource;
  const set = typeof password === 'string' ? password : otherwise;
  return { resource: withAddress(rest), password: rules.ignoresPassword ? undefined : set };
}

/** A user without e-mail addresses logs in with one as userName, or has none. */
function withAddress(resource: ScimObject): ScimObject {
  const { userName, emails } = resource;
  const hasOne = elementsOf(emails).some((each) => isScimObject(each) && member(each, 'value') !== undefined);
  if (hasOne || typeof userName !== 'string' || !isEmailAddress(userName.trim())) return resource;
  return { ...resource, emails: [{ value: userName, type: 'work', primary: true }] };
}
