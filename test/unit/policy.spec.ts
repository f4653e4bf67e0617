import { describe, expect, test } from '@jest/globals';
import { type Actor, FULL_RIGHTS, isSelf } from '../../src/access/actor.js';
import { isWebmaster, hasPermission } from '../../src/access/policy.js';
import { RoleCatalogue } from '../../src/access/roles.js';

const withRoles = (...roles: string[]): Actor => ({
  kind: 'user',
  id: '00000000-0000-4000-8000-000000000001',
  username: 'someone',
  roles,
  sessionId: 'session',
});
const KEY: Actor = {
  kind: 'key',
  id: '00000000-0000-4000-8000-000000000002',
  rights: FULL_RIGHTS,
  ignoresUnknownFields: false,
  profile: 'standard',
};
const SYSTEM: Actor = { kind: 'system', id: null };

type Level = 'external' | 'member' | 'webmaster';
const levelOf = (actor: Actor): Level =>
  hasPermission(actor, 'users.create')
    ? 'webmaster'
    : hasPermission(actor, 'users.search')
      ? 'member'
      : 'external';

/** `access-matrix` tests what each level may do. */
describe('the access level', () => {
  test.each<[string, Actor, Level]>([
    ['of an API key is webmaster', KEY, 'webmaster'],
    ['of the service itself is webmaster', SYSTEM, 'webmaster'],
    ['of a Webmaster with other roles is webmaster', withRoles('Editor', 'Webmaster'), 'webmaster'],
    ['of an External user with other roles is external', withRoles('Editor', 'External user'), 'external'],
    ['of a role similar to Webmaster is member', withRoles('webmaster', 'Web master'), 'member'],
  ])('%s', (_, actor, level) => {
    expect(levelOf(actor)).toBe(level);
    expect(isWebmaster(actor)).toBe(level === 'webmaster');
  });

  test.each(new RoleCatalogue(['Librarian']).names)('follows from the single role %s', (role) => {
    const special: Record<string, Level> = { Webmaster: 'webmaster', 'External user': 'external' };
    expect(levelOf(withRoles(role))).toBe(special[role] ?? 'member');
  });
});

test('isSelf is true only for a user with the same uuid', () => {
  const user = withRoles();
  expect(isSelf(user, String(user.id))).toBe(true);
  expect(isSelf(user, KEY.id)).toBe(false);
  expect(isSelf(KEY, KEY.id)).toBe(false);
});
