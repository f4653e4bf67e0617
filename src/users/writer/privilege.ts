import { type Actor, type Caller, datasetScope, isBehind } from '../../access/actor.js';
import { hasScope } from '../../access/policy.js';
import { isWebmasterUser } from '../rules/user-rules.js';
import { type User, differences } from '../model/user.js';
import type { Failure } from '../set-rules/failure.js';

const NEEDS_WEBMASTERS: Failure = {
  field: '',
  code: 'insufficient_scope',
  message: 'This API key lacks the scope webmasters, which every change of a Webmaster needs',
};

const foreignDataset = (dataset: string): Failure => ({
  field: '',
  code: 'insufficient_scope',
  message: `The data set ${dataset} manages this user, and this API key may not import it`,
});

/**
 * A key without the scope `webmasters` changes nothing of a user who is a Webmaster before the change or after it: who may
 * change the e-mail address or password of a Webmaster, or take the role away, has that power itself. The one rule for the
 * API and for rows of a file. A key that may import some data sets changes by files no user that another one manages.
 * @param before undefined for a new user. @param after undefined for one that is deleted.
 * @param byProvider of identity providers, which keep Webmasters up to date too: only changes of what is `GUARDED` are
 * refused.
 */
export function privilegeFailure(
  actor: Actor,
  before: User | undefined,
  after: User | undefined,
  byProvider = false,
): Failure | undefined {
  const dataset = actor.kind === 'import' ? before?.managed_by : undefined;
  const isForeign = dataset && !hasScope(actor, datasetScope(dataset));
  if (isForeign && changes(before, after)) return foreignDataset(dataset);
  if (hasScope(actor, 'webmasters')) return undefined;
  const concerned = [before, after].some((user) => user && isWebmasterUser(user));
  return concerned && changes(before, after, byProvider ? GUARDED : undefined) ? NEEDS_WEBMASTERS : undefined;
}

/**
 * What gives, takes or lends the power of a Webmaster (scim.md, section 3). The external id is one of them: a file gives its
 * roles to whoever has it, and without it the user would be a local operator, out of the provider's reach for good.
 */
const GUARDED: readonly string[] = [
  'external_id',
  'roles',
  'group_roles',
  'status',
  'username',
  'email',
  'authname',
  'password',
];

/** @param fields the only ones that count; all of them where they are not given. */
function changes(before: User | undefined, after: User | undefined, fields?: readonly string[]): boolean {
  if (!before || !after) return true;
  return differences(before, after).some(({ field }) => !fields || fields.includes(field));
}

/** Whether a change would block the account that makes it, or that has started or approved the import that makes it. */
export function blocksSelf(
  { actor }: Pick<Caller, 'actor'>,
  before: Pick<User, 'uuid' | 'status'> | undefined,
  { status }: { status?: string | null | undefined },
): boolean {
  return before?.status === 'Active' && status === 'Blocked' && isBehind(actor, before.uuid);
}
