import { Injectable } from '@nestjs/common';
import { type Actor, DEFAULT_PROFILE, type KeyProfile } from '../../access/actor.js';
import { hasScope } from '../../access/policy.js';
import { Metrics } from '../../platform/telemetry/metrics.js';
import type { User } from '../../users/model/user.js';
import { isWebmasterUser } from '../../users/rules/user-rules.js';
import type { CountDeviation } from '../protocol/input.js';

/** Returns the profile of a key, or the default profile for other actors. */
const keyProfileOf = (actor: Actor): KeyProfile => (actor.kind === 'key' ? actor.profile : DEFAULT_PROFILE);

/** Deviations of a profile from the standard (scim.md, section 3). */
export type ProfileRules = ReturnType<typeof rulesOf>;

export function rulesOf(actor: Actor) {
  const profile = keyProfileOf(actor);
  return {
    /** PATCH responds with 204 and no resource, unless the request lists attributes. */
    isBrief: profile === 'entra',
    /** PATCH operations on an unknown attribute are skipped instead of rejected. */
    ignoresUnknown: profile === 'entra',
    /** Passwords are placeholders and are ignored. */
    ignoresPassword: profile === 'okta',
    /** PUT retains omitted attributes, so that every attribute is optional. */
    keepsOmitted: profile === 'midpoint',
  };
}

/** Counts deviations from the RFC by kind and profile, so that an operator can see the deviations of a provider. */
@Injectable()
export class Deviations {
  constructor(private readonly metrics: Metrics) {}

  /** Returns the counter for one request. */
  createCounter(actor: Actor): CountDeviation {
    const profile = keyProfileOf(actor);
    return (kind) => {
      this.metrics.countScimDeviation(kind, profile);
    };
  }
}

/** Returns true if local operators (Webmasters without external id) are hidden from a key (scim.md, section 3). */
export const shouldHideOperators = (actor: Actor): boolean => !hasScope(actor, 'webmasters');

export const isHidden = (user: User, actor: Actor): boolean =>
  user.external_id === '' && isWebmasterUser(user) && shouldHideOperators(actor);
