import type { Actor } from '../../access/actor.js';
import { hasScope } from '../../access/policy.js';
import { WEBMASTER } from '../../access/roles.js';
import { type User, differences } from '../model/user.js';
import type { Failure } from './failure.js';

const NEEDS_WEBMASTERS: Failure = {
  field: '',
  code: 'insufficient_scope',
  message: 'This API key lacks the scope webmasters, which every change of a Webmaster needs',
};

/**
 * A key without the scope `webmasters` changes nothing of a user who is a Webmaster before the change or after it: who may
 * change the e-mail address or password of a Webmaster, or take the role away, has that power itself. The one rule for the
 * API and for rows of a file.
 * @param before undefined for a new user.
 */
export function privilegeFailure(actor: Actor, before: User | undefined, after: User): Failure | undefined {
  if (hasScope(actor, 'webmasters')) return undefined;
  const concerned = [before, after].some((user) => user?.roles.includes(WEBMASTER));
  const changes = !before || differences(before, after).length > 0;
  return concerned && changes ? NEEDS_WEBMASTERS : undefined;
}
