import { describe, expect, test } from '@jest/globals';
import { LIST_STORAGE } from '../../src/import/plan/compact-collections.js';
import { type NumberStorage, MAP_STORAGE } from '../../src/users/set-rules/number-storage.js';
import { type Change, type World, change, codesOf, names } from '../support/data/claims.js';

const taken = ['username username_taken'];
const twice = ['username duplicate'];

describe.each<[string, NumberStorage]>([
  ['in maps', MAP_STORAGE],
  ['compact', LIST_STORAGE],
])('%s', (_, storage) => {
  test.each<[string, Change[], World, string[][]]>([
    ['a name that its owner keeps', [names('a', 'x')], { owners: { x: 'b' } }, [taken]],
    [
      'a name whose owner would release it, and fails',
      [names('a', 'x'), names('b', 'y', { releases: ['x'] })],
      { owners: { x: 'b', y: 'c' } },
      [taken, taken],
    ],
    [
      'one name for two, a username and an e-mail',
      [names('a', 'x'), change('b', { takes: { x: 'email' } })],
      {},
      [twice, ['email duplicate']],
    ],
    [
      'one name for two users, one of which fails anyway',
      [change('a', { takes: { x: 'username', y: 'email' } }), names('b', 'x')],
      { owners: { y: 'c' } },
      [['email email_taken'], []],
    ],
    [
      // c and d fail over z, so c keeps y, so a fails, so b may have x.
      'one name for two users, one of which fails over another contested name',
      [
        change('a', { takes: { x: 'username', y: 'email' } }),
        names('b', 'x'),
        names('c', 'z', { releases: ['y'] }),
        names('d', 'z'),
      ],
      { owners: { y: 'c' } },
      [['email email_taken'], [], twice, twice],
    ],
    [
      'one user for two external ids',
      [change('a', { takes: { k1: 'external_id' } }), change('a', { takes: { k2: 'external_id' } })],
      { unlinked: ['a'] },
      [['external_id duplicate'], ['external_id duplicate']],
    ],
    [
      'a new user with the name of one without external id',
      [names('n', 'x', { creates: true })],
      { owners: { x: 'b' }, unlinked: ['b'] },
      [['username unlinked_conflict']],
    ],
    [
      'the same, where another change links that user',
      [names('n', 'x', { creates: true }), change('b', { takes: { k: 'external_id' } })],
      { owners: { x: 'b' }, unlinked: ['b'] },
      [taken, []],
    ],
    [
      'an existing user with the name of one without external id',
      [names('a', 'x')],
      { owners: { x: 'b' }, unlinked: ['b'] },
      [taken],
    ],
    [
      'an unknown manager, and one that a change creates',
      [
        change('a', { manager: [null, 'nobody'] }),
        change('b', { manager: [null, 'n'] }),
        change('n', { creates: true, manager: [null, null] }),
      ],
      {},
      [['manager_uuid unknown_reference'], [], []],
    ],
    [
      'a manager whose creation fails, down the line',
      [
        change('m', { creates: true, manager: [null, 'n'] }),
        change('a', { manager: [null, 'm'] }),
        names('n', 'x', { creates: true, manager: [null, null] }),
      ],
      { owners: { x: 'c' } },
      [['manager_uuid unknown_reference'], ['manager_uuid unknown_reference'], taken],
    ],
    [
      'a circle, and the manager that a failed change leaves',
      [change('a', { manager: [null, 'b'] }), names('b', 'x', { manager: ['a', null] })],
      { owners: { x: 'c' }, managers: { a: null, b: 'a' } },
      [['manager_uuid cycle'], taken],
    ],
    [
      'one name for two, of whom one closes a circle with users who stay',
      [names('a', 'x', { manager: [null, 'b'] }), names('c', 'x')],
      { managers: { a: null, b: 'a', c: null } },
      [['manager_uuid cycle'], []],
    ],
    [
      'one name for two, of whom one closes a circle with a third',
      [names('a', 'x', { manager: [null, 'b'] }), change('b', { manager: [null, 'a'] }), names('c', 'x')],
      { managers: { a: null, b: null } },
      [['manager_uuid cycle'], ['manager_uuid cycle'], []],
    ],
    [
      'one name for two, of whom one is the last Webmaster',
      [names('a', 'x', { webmaster: 'status' }), names('c', 'x')],
      {},
      [['status last_webmaster'], []],
    ],
    [
      'a circle of which one is the last Webmaster',
      [change('a', { manager: [null, 'b'], webmaster: 'status' }), change('b', { manager: [null, 'a'] })],
      { managers: { a: null, b: null } },
      [['status last_webmaster'], []],
    ],
    ['the last Webmaster', [change('a', { webmaster: 'status' })], {}, [['status last_webmaster']]],
    [
      'the last of two Webmasters',
      [change('a', { webmaster: 'status' }), change('b', { webmaster: 'roles' })],
      { webmasters: 2 },
      [[], ['roles last_webmaster']],
    ],
    [
      'the last Webmaster and the next one',
      [change('a', { webmaster: 'roles' }), change('b', { webmaster: 'gained' })],
      {},
      [[], []],
    ],
    [
      'the last Webmaster, whose successor fails',
      [change('a', { webmaster: 'roles' }), names('b', 'x', { webmaster: 'gained' })],
      { owners: { x: 'c' } },
      [['roles last_webmaster'], taken],
    ],
    [
      'the name of the last Webmaster, who stays',
      [change('a', { webmaster: 'status', releases: ['x'] }), names('b', 'x')],
      { owners: { x: 'a' } },
      [['status last_webmaster'], taken],
    ],
  ])('%s', (_, changes, world, expected) => {
    expect(codesOf(changes, world, storage)).toEqual(expected);
  });

  test('a withdrawn change claims and releases nothing', () => {
    const changes = [names('a', 'x'), names('b', 'x', { releases: ['y'] }), names('c', 'y')];
    expect(codesOf(changes, { owners: { y: 'b' } }, storage, [2])).toEqual([[], [], taken]);
  });

  test.each([99, 300])('a chain of %s contested names, each decided after the one before', (length) => {
    // c releases a name that the next a needs, and fails beside d over x; so the next a fails, and c and d are left.
    const changes = Array.from({ length }, (_, n): Change[] => [
      change(`a${n}`, { takes: { [`x${n}`]: 'username', ...(n > 0 && { [`own${n - 1}`]: 'email' }) } }),
      names(`c${n}`, `x${n}`, { releases: [`own${n}`] }),
      names(`d${n}`, `x${n}`),
    ]).flat();
    const owners = Object.fromEntries(Array.from({ length }, (_, n) => [`own${n}`, `c${n}`]));
    const codes = codesOf(changes, { owners }, storage);
    expect(codes.slice(0, 6)).toEqual([twice, twice, twice, ['email email_taken'], twice, twice]);
    // Beyond the rounds that are decided in order, every taker of a contested name fails for that.
    expect(codes.at(-3)).toEqual(length < 100 ? ['email email_taken'] : twice);
    expect(codes.filter((found) => found.length === 0)).toEqual([]);
  });
});
