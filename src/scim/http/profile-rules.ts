import { type Actor, DEFAULT_PROFILE, type KeyProfile } from '../../access/actor.js';
import { hasScope } from '../../access/policy.js';
import type { Metrics } from '../../platform/telemetry/metrics.js';
import type { User } from '../../users/model/user.js';
import { isWebmasterUser } from '../../users/rules/user-rules.js';
import type { CountDeviation } from '../protocol/input.js';

const keyProfileOf = (actor: Actor): KeyProfile => (actor.kind === 'key' ? actor.profile : DEFAULT_PROFILE);

/** The deviations from SCIM for a key profile (scim.md, section 3). */
export type ProfileRules = ReturnType<typeof rulesOf>;

export function rulesOf(actor: Actor) {
  const profile = keyProfileOf(actor);
  return {
    /** The response to a PATCH has status 204 and no resource, unless the request sets `attributes`. */
    isBrief: profile === 'entra',
    /** PATCH operations on an unknown attribute are skipped instead of rejected. */
    ignoresUnknown: profile === 'entra',
    /** The client sends placeholders as passwords, so passwords are ignored. */
    ignoresPassword: profile === 'okta',
    /** A PUT retains the attributes that it omits, so no attribute is required. */
    keepsOmitted: profile === 'midpoint',
  };
}

/** Returns a function that counts deviations from SCIM in the metrics, by kind and key profile. */
export function createDeviationCounter(metrics: Metrics, actor: Actor): CountDeviation {
  const profile = keyProfileOf(actor);
  return (kind) => {
    metrics.scimDeviations.inc({ kind, profile });
  };
}

/** Returns true if local operators (Webmasters without external id) are hidden from a key (scim.md, section 3). */
export const shouldHideOperators = (actor: Actor): boolean => !hasScope(actor, 'webmasters');

export const isHidden = (user: User, actor: Actor): boolean =>
  user.external_id === '' && isWebmasterUser(user) && shouldHideOperators(actor);
