import { Injectable } from '@nestjs/common';
import { type Actor, DEFAULT_PROFILE, type Profile } from '../../access/actor.js';
import { hasScope } from '../../access/policy.js';
import { Metrics } from '../../platform/telemetry/metrics.js';
import type { User } from '../../users/model/user.js';
import { isWebmasterUser } from '../../users/rules/user-rules.js';
import type { CountDeviation } from '../protocol/input.js';

/** The profile of a key. People and the service itself have the default. */
const profileOf = (actor: Actor): Profile => (actor.kind === 'key' ? actor.profile : DEFAULT_PROFILE);

/** Where a profile differs from the standard (scim.md, section 3). */
export type ProfileRules = ReturnType<typeof rulesOf>;

export function rulesOf(actor: Actor) {
  const profile = profileOf(actor);
  return {
    /** PATCH responds 204 without the resource, unless it requests attributes. */
    isBrief: profile === 'entra',
    /** A path of a PATCH to an unknown attribute is skipped, and no error. */
    ignoresUnknown: profile === 'entra',
    /** A password is a placeholder. */
    ignoresPassword: profile === 'okta',
    /** PUT keeps omitted attributes, and requires none. */
    keepsOmitted: profile === 'midpoint',
  };
}

/** Counts deviations from the RFC by kind and profile, so that an operator sees what a provider sends. */
@Injectable()
export class Deviations {
  constructor(private readonly metrics: Metrics) {}

  /** Returns the counter for one request. */
  of(actor: Actor): CountDeviation {
    const profile = profileOf(actor);
    return (kind) => {
      this.metrics.scimDeviation(kind, profile);
    };
  }
}

/** Whether local operators (Webmasters without external id) do not exist for a key (scim.md, section 3). */
export const hidesOperators = (actor: Actor): boolean => !hasScope(actor, 'webmasters');

export const isHidden = (user: User, actor: Actor): boolean =>
  user.external_id === '' && isWebmasterUser(user) && hidesOperators(actor);
