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
describe('the level of an actor', () => {
  test.each<[string, Actor, Level]>([
    ['an API key', KEY, 'webmaster'],
    ['the service itself', SYSTEM, 'webmaster'],
    ['a Webmaster', withRoles('Webmaster'), 'webmaster'],
    ['a Webmaster with other roles', withRoles('Editor', 'Webmaster'), 'webmaster'],
    ['an External user', withRoles('External user'), 'external'],
    ['an External user with other roles', withRoles('Editor', 'External user'), 'external'],
    ['a name that only looks like a Webmaster', withRoles('webmaster', 'Web master'), 'member'],
  ])('%s', (_, actor, level) => {
    expect(levelOf(actor)).toBe(level);
    expect(isWebmaster(actor)).toBe(level === 'webmaster');
  });

  test.each(new RoleCatalogue(['Librarian']).names)('%s', (role) => {
    const special: Record<string, Level> = { Webmaster: 'webmaster', 'External user': 'external' };
    expect(levelOf(withRoles(role))).toBe(special[role] ?? 'member');
  });
});

test('only a user is itself, and only with its own uuid', () => {
  const user = withRoles();
  expect(isSelf(user, String(user.id))).toBe(true);
  expect(isSelf(user, KEY.id)).toBe(false);
  expect(isSelf(KEY, KEY.id)).toBe(false);
});
