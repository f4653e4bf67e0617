import { describe, expect, test } from '@jest/globals';
import { type Change, type World, change, codesOf, rename } from '../support/data/set-constraints.js';

const taken = ['username username_taken'];
const twice = ['username duplicate'];

describe('the change-set validator', () => {
  test.each<[string, Change[], World, string[][]]>([
    ['refuses a username that its owner keeps', [rename('a', 'x')], { owners: { x: 'b' } }, [taken]],
    [
      'refuses the same text as the username of one user and the email of another user',
      [rename('a', 'x'), change('b', { takes: { x: 'email' } })],
      {},
      [twice, ['email duplicate']],
    ],
    [
      'accepts a contested username if the change of the other user fails',
      [change('a', { takes: { x: 'username', y: 'email' } }), rename('b', 'x')],
      { owners: { y: 'c' } },
      [['email email_taken'], []],
    ],
    [
      // c and d fail over z. Then c keeps y, a fails, and b may take x.
      'accepts a contested username if the other change fails because of a second contested name',
      [
        change('a', { takes: { x: 'username', y: 'email' } }),
        rename('b', 'x'),
        rename('c', 'z', { releases: ['y'] }),
        rename('d', 'z'),
      ],
      { owners: { y: 'c' } },
      [['email email_taken'], [], twice, twice],
    ],
    [
      'refuses two external ids for one user',
      [change('a', { takes: { k1: 'external_id' } }), change('a', { takes: { k2: 'external_id' } })],
      { unlinked: ['a'] },
      [['external_id duplicate'], ['external_id duplicate']],
    ],
    [
      'reports unlinked_conflict if a new user takes the username of an unlinked user',
      [rename('n', 'x', { creates: true })],
      { owners: { x: 'b' }, unlinked: ['b'] },
      [['username unlinked_conflict']],
    ],
    [
      'reports username_taken if another change links the unlinked user',
      [rename('n', 'x', { creates: true }), change('b', { takes: { k: 'external_id' } })],
      { owners: { x: 'b' }, unlinked: ['b'] },
      [taken, []],
    ],
    [
      'reports username_taken if an existing user takes the username of an unlinked user',
      [rename('a', 'x')],
      { owners: { x: 'b' }, unlinked: ['b'] },
      [taken],
    ],
    [
      'refuses an unknown manager and accepts a manager whom another change creates',
      [
        change('a', { manager: [null, 'unknown'] }),
        change('b', { manager: [null, 'n'] }),
        change('n', { creates: true, manager: [null, null] }),
      ],
      {},
      [['manager_uuid unknown_reference'], [], []],
    ],
    [
      'accepts a contested username if the other change creates a management cycle with a third user',
      [rename('a', 'x', { manager: [null, 'b'] }), change('b', { manager: [null, 'a'] }), rename('c', 'x')],
      { managers: { a: null, b: null } },
      [['manager_uuid cycle'], ['manager_uuid cycle'], []],
    ],
    [
      'accepts a contested username if the other change would block the last Webmaster',
      [rename('a', 'x', { webmaster: 'status' }), rename('c', 'x')],
      {},
      [['status last_webmaster'], []],
    ],
    [
      'accepts a change in a management cycle if the other change would block the last Webmaster',
      [change('a', { manager: [null, 'b'], webmaster: 'status' }), change('b', { manager: [null, 'a'] })],
      { managers: { a: null, b: null } },
      [['status last_webmaster'], []],
    ],
    ['protects the last Webmaster', [change('a', { webmaster: 'status' })], {}, [['status last_webmaster']]],
    [
      'accepts the removal of one of two Webmasters and refuses the second removal',
      [change('a', { webmaster: 'status' }), change('b', { webmaster: 'roles' })],
      { webmasters: 2 },
      [[], ['roles last_webmaster']],
    ],
    [
      'accepts the removal of the last Webmaster if another user becomes one',
      [change('a', { webmaster: 'roles' }), change('b', { webmaster: 'gained' })],
      {},
      [[], []],
    ],
    [
      'refuses the removal of the last Webmaster if the change of the successor fails',
      [change('a', { webmaster: 'roles' }), rename('b', 'x', { webmaster: 'gained' })],
      { owners: { x: 'c' } },
      [['roles last_webmaster'], taken],
    ],
  ])('%s', (_, changes, world, expected) => {
    expect(codesOf(changes, world)).toEqual(expected);
  });

  test('ignores the usernames of failed changes', () => {
    const changes = [rename('a', 'x'), rename('b', 'x', { releases: ['y'] }), rename('c', 'y')];
    expect(codesOf(changes, { owners: { y: 'b' } }, [2])).toEqual([[], [], taken]);
  });

  test.each([99, 300])('refuses a chain of %s username conflicts', (length) => {
    // c releases a name that the next a needs. c and d fail over x, so the next a fails, too.
    const changes = Array.from({ length }, (_, n): Change[] => [
      change(`a${n}`, { takes: { [`x${n}`]: 'username', ...(n > 0 && { [`own${n - 1}`]: 'email' }) } }),
      rename(`c${n}`, `x${n}`, { releases: [`own${n}`] }),
      rename(`d${n}`, `x${n}`),
    ]).flat();
    const owners = Object.fromEntries(Array.from({ length }, (_, n) => [`own${n}`, `c${n}`]));
    const codes = codesOf(changes, { owners });
    expect(codes.slice(0, 6)).toEqual([twice, twice, twice, ['email email_taken'], twice, twice]);
    // After the rounds that are decided in order, every change that takes a contested name fails as a duplicate.
    expect(codes.at(-3)).toEqual(length < 100 ? ['email email_taken'] : twice);
    expect(codes.filter((found) => found.length === 0)).toEqual([]);
  });
});
