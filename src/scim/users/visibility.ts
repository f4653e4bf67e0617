import type { Actor } from '../../access/actor.js';
import { hasScope } from '../../access/policy.js';
import { isWebmasterUser } from '../../users/rules/user-rules.js';
import type { User } from '../../users/model/user.js';

/**
 * Whether a user does not exist for an actor: Webmasters without external id are local operators, of whom a key without the
 * scope `webmasters` learns nothing (scim.md, section 3).
 */
export function isHidden(user: User, actor: Actor): boolean {
  return user.external_id === '' && isWebmasterUser(user) && hidesOperators(actor);
}

export const hidesOperators = (actor: Actor): boolean => !hasScope(actor, 'webmasters');
