import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { COMPACT } from '../../src/import/plan/compact-storage.js';
import { type ClaimStorage, IN_MAPS } from '../../src/users/change/claim-storage.js';
import type { Claim } from '../../src/users/change/claim.js';
import { EndState } from '../../src/users/change/end-state.js';
import type { Owner } from '../../src/users/change/name-claims.js';

type Field = 'username' | 'email' | 'external_id' | 'authname';
interface Change {
  user: string;
  creates?: boolean;
  /** Name → field. */
  takes?: Record<string, Field>;
  releases?: string[];
  manager?: [before: string | null, after: string | null];
  webmaster?: Claim['webmaster'];
}
interface World {
  /** Name → user; `unlinked` users have no external id. */
  owners?: Record<string, string>;
  unlinked?: string[];
  managers?: Record<string, string | null>;
  webmasters?: number;
}

function stateOf(changes: readonly Change[], world: World, storage: ClaimStorage): EndState {
  const state = new EndState({ storage, nameOf: (change) => `change ${change}`, links: true });
  const owners = new Map(
    Object.entries(world.owners ?? {}).map(([name, uuid]): [string, Owner] => [
      name,
      { uuid, external_id: world.unlinked?.includes(uuid) ? '' : `id of ${uuid}` },
    ]),
  );
  changes.forEach(({ user, creates = false, takes = {}, releases = [], manager, webmaster }, index) => {
    const claim: Claim = {
      change: index + 1,
      user,
      creates,
      released: releases.map((identifier) => ({ identifier, field: 'username' })),
      taken: Object.entries(takes).map(([identifier, field]) => ({ identifier, field })),
      ...(manager && { manager: { before: manager[0], after: manager[1] } }),
      ...(webmaster && { webmaster }),
    };
    state.add(claim, owners);
  });
  for (const [user, manager] of Object.entries(world.managers ?? {})) state.know(user, manager);
  return state;
}

const codesOf = (
  changes: readonly Change[],
  world: World,
  storage: ClaimStorage = IN_MAPS,
  withdrawn: number[] = [],
) => {
  const state = stateOf(changes, world, storage);
  for (const change of withdrawn) state.withdraw(change);
  const failures = state.judge(world.webmasters ?? 1);
  return changes.map((_, index) =>
    (failures.get(index + 1) ?? []).map(({ field, code }) => `${field} ${code}`),
  );
};

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
      'one name for two, of whom one fails anyway',
      [
        { user: 'a', takes: { x: 'username', y: 'email' } },
        { user: 'b', takes: { x: 'username' } },
      ],
      { owners: { y: 'c' } },
      [['email email_taken'], []],
    ],
    [
      // c and d fail over z, so c keeps y, so a fails, so b may have x.
      'one name for two, of whom one fails by another contested name',
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
      'a manager who is nobody, and one whom a change creates',
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
});

test('on any set: both storages agree, what remains is good, and every failure is needed', () => {
  const names = fc.constantFrom('n0', 'n1', 'n2', 'n3', 'n4', 'n5');
  const users = ['u0', 'u1', 'u2', 'u3', 'u4'];
  const user = fc.constantFrom(...users);
  const world = fc.record({
    owned: fc.array(fc.option(names), { minLength: 5, maxLength: 5 }),
    above: fc.array(fc.nat(5), { minLength: 5, maxLength: 5 }),
    webmasters: fc.integer({ min: 0, max: 5 }),
  });
  const wish = fc.record({
    name: fc.option(names),
    manager: fc.option(fc.option(fc.oneof(user, fc.constantFrom('new0', 'new1', 'nobody')))),
    leaves: fc.boolean(),
  });
  const created = fc.array(wish, { maxLength: 2 });
  let failed = 0;
  fc.assert(
    fc.property(world, fc.array(wish, { minLength: 5, maxLength: 5 }), created, (state, wishes, news) => {
      const owners: Record<string, string> = {};
      state.owned.forEach((name, index) => {
        if (name !== null) owners[name] ??= users[index] ?? '';
      });
      const nameOf = (uuid: string) => Object.keys(owners).find((name) => owners[name] === uuid);
      // A user is below users of lower numbers only: no circle to begin with.
      const managers = Object.fromEntries(
        users.map((uuid, index) => [
          uuid,
          users[(state.above[index] ?? 0) - 1 < index ? (state.above[index] ?? 0) - 1 : -1] ?? null,
        ]),
      );
      const all = [...users, ...news.map((_, index) => `new${index}`)];
      const changes = [...wishes, ...news]
        .map(({ name, manager, leaves }, index): Change => {
          const uuid = all[index] ?? '';
          const creates = index >= users.length;
          const old = nameOf(uuid);
          const before = managers[uuid] ?? null;
          const moves = name !== null && name !== old;
          return {
            user: uuid,
            creates,
            ...(moves && { takes: { [name]: 'username' as const } }),
            ...(moves && old !== undefined && { releases: [old] }),
            ...(creates
              ? { manager: [null, manager ?? null] as [null, string | null] }
              : manager !== null &&
                manager !== before &&
                manager !== uuid && { manager: [before, manager] as [string | null, string | null] }),
            ...(leaves && !creates && index < state.webmasters && { webmaster: 'status' as const }),
          };
        })
        .filter(({ user: uuid, manager }) => manager?.[1] !== uuid);
      const facts: World = { owners, managers, webmasters: state.webmasters };
      const judged = codesOf(changes, facts);
      expect(codesOf(changes, facts, COMPACT)).toEqual(judged);
      failed += judged.filter((codes) => codes.length > 0).length;
      const good = changes.filter((_, index) => judged[index]?.length === 0);
      expect(codesOf(good, facts)).toEqual(good.map(() => []));
      expect(problemsOf(good, facts)).toEqual([]);
      // Nothing that failed for what others have could be let through beside what remains.
      changes.forEach((change, index) => {
        const [code = ''] = judged[index] ?? [];
        if (/taken|unknown/.test(code)) expect(problemsOf([...good, change], facts)).not.toEqual([]);
      });
    }),
    { numRuns: 2000 },
  );
  expect(failed).toBeGreaterThan(1000);
});

/** What is wrong with a world after these changes, found by looking at it. */
function problemsOf(
  changes: readonly Change[],
  { owners = {}, managers = {}, webmasters = 1 }: World,
): string[] {
  const holders = new Map(Object.entries(owners).map(([name, user]) => [name, [user]]));
  const above = new Map(Object.entries(managers));
  let remaining = webmasters;
  for (const { user, takes = {}, releases = [], manager, webmaster } of changes) {
    for (const name of releases)
      holders.set(
        name,
        (holders.get(name) ?? []).filter((one) => one !== user),
      );
    for (const name of Object.keys(takes)) holders.set(name, [...(holders.get(name) ?? []), user]);
    if (manager) above.set(user, manager[1]);
    if (webmaster === 'gained') remaining++;
    else if (webmaster) remaining--;
  }
  const problems: string[] = [];
  for (const [name, users] of holders)
    if (users.length > 1) problems.push(`${name} belongs to ${users.join()}`);
  for (const [user, manager] of above) {
    if (manager !== null && !above.has(manager)) problems.push(`${manager} is nobody`);
    const loops = (start: string | null): boolean => {
      const seen = new Set<string>();
      for (let one = start; one !== null; one = above.get(one) ?? null) {
        if (one === user) return true;
        if (seen.has(one)) return false;
        seen.add(one);
      }
      return false;
    };
    if (loops(manager)) problems.push(`${user} is on a circle`);
  }
  if (webmasters > 0 && remaining < 1) problems.push('no Webmaster is left');
  return problems;
}
