import { describe, expect, test } from '@jest/globals';
import { COMPACT } from '../../src/import/plan/compact-storage.js';
import { type ClaimStorage, IN_MAPS } from '../../src/users/change/claim-storage.js';
import { type Change, type World, codesOf } from '../support/data/claims.js';

const taken = ['username username_taken'];
const twice = ['username duplicate'];

describe.each<[string, ClaimStorage]>([
  ['in maps', IN_MAPS],
  ['compact', COMPACT],
])('%s', (_, storage) => {
  test.each<[string, Change[], World, string[][]]>([
    ['a free name', [{ user: 'a', takes: { x: 'username' } }], {}, [[]]],
    [
      'a name that its owner keeps',
      [{ user: 'a', takes: { x: 'username' } }],
      { owners: { x: 'b' } },
      [taken],
    ],
    [
      'a name that its owner releases',
      [
        { user: 'a', takes: { x: 'username' } },
        { user: 'b', releases: ['x'], takes: { y: 'username' } },
      ],
      { owners: { x: 'b' } },
      [[], []],
    ],
    [
      'a name whose owner would release it, and fails',
      [
        { user: 'a', takes: { x: 'username' } },
        { user: 'b', releases: ['x'], takes: { y: 'username' } },
      ],
      { owners: { x: 'b', y: 'c' } },
      [taken, taken],
    ],
    [
      'a swap',
      [
        { user: 'a', releases: ['x'], takes: { y: 'username' } },
        { user: 'b', releases: ['y'], takes: { x: 'username' } },
      ],
      { owners: { x: 'a', y: 'b' } },
      [[], []],
    ],
    [
      'one name for two, a username and an e-mail',
      [
        { user: 'a', takes: { x: 'username' } },
        { user: 'b', takes: { x: 'email' } },
      ],
      {},
      [twice, ['email duplicate']],
    ],
    [
      'one name for two users, one of which fails anyway',
      [
        { user: 'a', takes: { x: 'username', y: 'email' } },
        { user: 'b', takes: { x: 'username' } },
      ],
      { owners: { y: 'c' } },
      [['email email_taken'], []],
    ],
    [
      // c and d fail over z, so c keeps y, so a fails, so b may have x.
      'one name for two users, one of which fails over another contested name',
      [
        { user: 'a', takes: { x: 'username', y: 'email' } },
        { user: 'b', takes: { x: 'username' } },
        { user: 'c', releases: ['y'], takes: { z: 'username' } },
        { user: 'd', takes: { z: 'username' } },
      ],
      { owners: { y: 'c' } },
      [['email email_taken'], [], twice, twice],
    ],
    [
      'the same name as username and e-mail of one user',
      [
        { user: 'a', takes: { x: 'username' } },
        { user: 'b', takes: { y: 'email' } },
      ],
      {},
      [[], []],
    ],
    [
      'one user for two external ids',
      [
        { user: 'a', takes: { k1: 'external_id' } },
        { user: 'a', takes: { k2: 'external_id' } },
      ],
      { unlinked: ['a'] },
      [['external_id duplicate'], ['external_id duplicate']],
    ],
    [
      'a new user with the name of one without external id',
      [{ user: 'n', creates: true, takes: { x: 'username' } }],
      { owners: { x: 'b' }, unlinked: ['b'] },
      [['username unlinked_conflict']],
    ],
    [
      'the same, where another change links that user',
      [
        { user: 'n', creates: true, takes: { x: 'username' } },
        { user: 'b', takes: { k: 'external_id' } },
      ],
      { owners: { x: 'b' }, unlinked: ['b'] },
      [taken, []],
    ],
    [
      'an existing user with the name of one without external id',
      [{ user: 'a', takes: { x: 'username' } }],
      { owners: { x: 'b' }, unlinked: ['b'] },
      [taken],
    ],
    [
      'an unknown manager, and one that a change creates',
      [
        { user: 'a', manager: [null, 'nobody'] },
        { user: 'b', manager: [null, 'n'] },
        { user: 'n', creates: true, manager: [null, null] },
      ],
      {},
      [['manager_uuid unknown_reference'], [], []],
    ],
    [
      'a manager whose creation fails, down the line',
      [
        { user: 'm', creates: true, manager: [null, 'n'] },
        { user: 'a', manager: [null, 'm'] },
        { user: 'n', creates: true, manager: [null, null], takes: { x: 'username' } },
      ],
      { owners: { x: 'c' } },
      [['manager_uuid unknown_reference'], ['manager_uuid unknown_reference'], taken],
    ],
    [
      'a circle, and the manager that a failed change leaves',
      [
        { user: 'a', manager: [null, 'b'] },
        { user: 'b', manager: ['a', null], takes: { x: 'username' } },
      ],
      { owners: { x: 'c' }, managers: { a: null, b: 'a' } },
      [['manager_uuid cycle'], taken],
    ],
    [
      'one name for two, of whom one closes a circle with users who stay',
      [
        { user: 'a', takes: { x: 'username' }, manager: [null, 'b'] },
        { user: 'c', takes: { x: 'username' } },
      ],
      { managers: { a: null, b: 'a', c: null } },
      [['manager_uuid cycle'], []],
    ],
    [
      'one name for two, of whom one closes a circle with a third',
      [
        { user: 'a', takes: { x: 'username' }, manager: [null, 'b'] },
        { user: 'b', manager: [null, 'a'] },
        { user: 'c', takes: { x: 'username' } },
      ],
      { managers: { a: null, b: null } },
      [['manager_uuid cycle'], ['manager_uuid cycle'], []],
    ],
    [
      'one name for two, of whom one is the last Webmaster',
      [
        { user: 'a', takes: { x: 'username' }, webmaster: 'status' },
        { user: 'c', takes: { x: 'username' } },
      ],
      {},
      [['status last_webmaster'], []],
    ],
    [
      'a circle of which one is the last Webmaster',
      [
        { user: 'a', manager: [null, 'b'], webmaster: 'status' },
        { user: 'b', manager: [null, 'a'] },
      ],
      { managers: { a: null, b: null } },
      [['status last_webmaster'], []],
    ],
    ['the last Webmaster', [{ user: 'a', webmaster: 'status' }], {}, [['status last_webmaster']]],
    [
      'the last of two Webmasters',
      [
        { user: 'a', webmaster: 'status' },
        { user: 'b', webmaster: 'roles' },
      ],
      { webmasters: 2 },
      [[], ['roles last_webmaster']],
    ],
    [
      'the last Webmaster and the next one',
      [
        { user: 'a', webmaster: 'roles' },
        { user: 'b', webmaster: 'gained' },
      ],
      {},
      [[], []],
    ],
    [
      'the last Webmaster, whose successor fails',
      [
        { user: 'a', webmaster: 'roles' },
        { user: 'b', webmaster: 'gained', takes: { x: 'username' } },
      ],
      { owners: { x: 'c' } },
      [['roles last_webmaster'], taken],
    ],
    [
      'the name of the last Webmaster, who stays',
      [
        { user: 'a', webmaster: 'status', releases: ['x'] },
        { user: 'b', takes: { x: 'username' } },
      ],
      { owners: { x: 'a' } },
      [['status last_webmaster'], taken],
    ],
  ])('%s', (_, changes, world, expected) => {
    expect(codesOf(changes, world, storage)).toEqual(expected);
  });

  test('a withdrawn change claims and releases nothing', () => {
    const changes: Change[] = [
      { user: 'a', takes: { x: 'username' } },
      { user: 'b', takes: { x: 'username' }, releases: ['y'] },
      { user: 'c', takes: { y: 'username' } },
    ];
    expect(codesOf(changes, { owners: { y: 'b' } }, storage, [2])).toEqual([[], [], taken]);
  });

  test.each([99, 300])('a chain of %s contested names, each decided after the one before', (length) => {
    // c releases a name that the next a needs, and fails beside d over x; so the next a fails, and c and d are left.
    const changes = Array.from({ length }, (_, n): Change[] => [
      { user: `a${n}`, takes: { [`x${n}`]: 'username', ...(n > 0 && { [`own${n - 1}`]: 'email' }) } },
      { user: `c${n}`, takes: { [`x${n}`]: 'username' }, releases: [`own${n}`] },
      { user: `d${n}`, takes: { [`x${n}`]: 'username' } },
    ]).flat();
    const owners = Object.fromEntries(Array.from({ length }, (_, n) => [`own${n}`, `c${n}`]));
    const codes = codesOf(changes, { owners }, storage);
    expect(codes.slice(0, 6)).toEqual([twice, twice, twice, ['email email_taken'], twice, twice]);
    // Beyond the rounds that are decided in order, every taker of a contested name fails for that.
    expect(codes.at(-3)).toEqual(length < 100 ? ['email email_taken'] : twice);
    expect(codes.filter((found) => found.length === 0)).toEqual([]);
  });
});
