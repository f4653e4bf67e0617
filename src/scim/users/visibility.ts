import type { Actor } from '../../access/actor.js';
import { hasScope } from '../../access/policy.js';
import { WEBMASTER } from '../../access/roles.js';
import { clause } from '../../platform/database/engine/sql.js';
import type { User } from '../../users/model/user.js';
import { isWebmasterUser } from '../../users/rules/user-rules.js';
import type { UserSet } from '../../users/search/user-pages.service.js';

/** Webmasters without external id are local operators, who do not exist for a key without the scope `webmasters` (scim.md, section 3). */
export const hidesOperators = (actor: Actor): boolean => !hasScope(actor, 'webmasters');

export function isHidden(user: User, actor: Actor): boolean {
  return user.external_id === '' && isWebmasterUser(user) && hidesOperators(actor);
}

/** A condition over `users u`. */
export const IS_NO_OPERATOR = clause(
  `NOT (u.external_id_key IS NULL AND EXISTS
    (SELECT 1 FROM user_roles h WHERE h.role = ? AND h.user_uuid = u.uuid))`,
  WEBMASTER,
);

/** The operators, of a status or of both. There are few. */
export const operatorsOf = (status: string | undefined): UserSet => ({
  from: clause('user_roles r JOIN users u ON u.uuid = r.user_uuid'),
  tests: [
    clause('r.role = ?', WEBMASTER),
    clause('u.external_id_key IS NULL'),
    ...(status === undefined ? [] : [clause('u.status = ?', status)]),
  ],
});
