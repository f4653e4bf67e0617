import { type Actor, DEFAULT_PROFILE, type Profile } from '../../access/actor.js';

/** Where a profile differs from the standard (scim.md, section 3). */
export interface ProfileRules {
  /** PATCH answers 204 without the resource, unless it asks for attributes. */
  readonly isBrief: boolean;
  /** PUT leaves alone what it omits, and needs nothing. */
  readonly keepsOmitted: boolean;
  /** What it sends as a password is a placeholder. */
  readonly ignoresPassword: boolean;
  /** A path of a PATCH to an unknown attribute is skipped, and no error. */
  readonly ignoresUnknown: boolean;
}

const STANDARD: ProfileRules = {
  isBrief: false,
  keepsOmitted: false,
  ignoresPassword: false,
  ignoresUnknown: false,
};
const RULES: Readonly<Record<Profile, ProfileRules>> = {
  standard: STANDARD,
  entra: { ...STANDARD, isBrief: true, ignoresUnknown: true },
  okta: { ...STANDARD, ignoresPassword: true },
  midpoint: { ...STANDARD, keepsOmitted: true },
};

/** The profile of the key that acts; people and the service itself have the default. */
export const profileOf = (actor: Actor): Profile => (actor.kind === 'key' ? actor.profile : DEFAULT_PROFILE);

export const rulesOf = (actor: Actor): ProfileRules => RULES[profileOf(actor)];
