import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Change, type World, codesOf } from '../support/data/set-constraints.js';

test('random changes that the change-set validator accepts never conflict', () => {
  const names = fc.constantFrom('n0', 'n1', 'n2', 'n3', 'n4', 'n5');
  const users = ['u0', 'u1', 'u2', 'u3', 'u4'];
  const user = fc.constantFrom(...users);
  const world = fc.record({
    owned: fc.array(fc.option(names), { minLength: 5, maxLength: 5 }),
    managers: fc.array(fc.nat(5), { minLength: 5, maxLength: 5 }),
    webmasters: fc.integer({ min: 0, max: 5 }),
  });
  const wish = fc.record({
    name: fc.option(names),
    manager: fc.option(fc.option(fc.oneof(user, fc.constantFrom('new0', 'new1', 'unknown')))),
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
      // The manager of a user has a lower number than the user, so the first state has no circle.
      const managers = Object.fromEntries(
        users.map((uuid, index) => [
          uuid,
          users[(state.managers[index] ?? 0) - 1 < index ? (state.managers[index] ?? 0) - 1 : -1] ?? null,
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
      const failures = codesOf(changes, facts);
      failed += failures.filter((codes) => codes.length > 0).length;
      const accepted = changes.filter((_, index) => failures[index]?.length === 0);
      expect(codesOf(accepted, facts)).toEqual(accepted.map(() => []));
      expect(findProblems(accepted, facts)).toEqual([]);
      // A change that failed over a taken name or an unknown manager cannot succeed with the accepted changes.
      changes.forEach((change, index) => {
        const [code = ''] = failures[index] ?? [];
        if (/taken|unknown/.test(code)) expect(findProblems([...accepted, change], facts)).not.toEqual([]);
      });
    }),
    { numRuns: 1000 },
  );
  expect(failed).toBeGreaterThan(500);
});

/** Returns the faults of a world after the changes, found by direct inspection. */
function findProblems(
  changes: readonly Change[],
  { owners = {}, managers = {}, webmasters = 1 }: World,
): string[] {
  const holders = new Map(Object.entries(owners).map(([name, user]) => [name, [user]]));
  const managerOf = new Map(Object.entries(managers));
  let remaining = webmasters;
  for (const { user, takes = {}, releases = [], manager, webmaster } of changes) {
    for (const name of releases)
      holders.set(
        name,
        (holders.get(name) ?? []).filter((one) => one !== user),
      );
    for (const name of Object.keys(takes)) holders.set(name, [...(holders.get(name) ?? []), user]);
    if (manager) managerOf.set(user, manager[1]);
    if (webmaster === 'gained') remaining++;
    else if (webmaster) remaining--;
  }
  const problems: string[] = [];
  for (const [name, users] of holders)
    if (users.length > 1) problems.push(`${name} belongs to ${users.join()}`);
  for (const [user, manager] of managerOf) {
    if (manager !== null && !managerOf.has(manager)) problems.push(`${manager} is unknown`);
    const reachesUser = (start: string | null): boolean => {
      const seen = new Set<string>();
      for (let one = start; one !== null; one = managerOf.get(one) ?? null) {
        if (one === user) return true;
        if (seen.has(one)) return false;
        seen.add(one);
      }
      return false;
    };
    if (reachesUser(manager)) problems.push(`${user} is on a circle`);
  }
  if (webmasters > 0 && remaining < 1) problems.push('no Webmaster is left');
  return problems;
}
