import { type ClaimStorage, IN_MAPS } from '../../../src/users/set-rules/claim-storage.js';
import type { Claim } from '../../../src/users/set-rules/claim.js';
import { EndState } from '../../../src/users/set-rules/end-state.js';
import type { Owner } from '../../../src/users/set-rules/name-claims.js';

type Field = 'username' | 'email' | 'external_id' | 'authname';
export interface Change {
  user: string;
  creates?: boolean;
  /** Name → field. */
  takes?: Record<string, Field>;
  releases?: string[];
  manager?: [before: string | null, after: string | null];
  webmaster?: Claim['webmaster'];
}
/** A change of a user. */
export const change = (user: string, more: Omit<Change, 'user'> = {}): Change => ({ user, ...more });
/** A change that takes a username. */
export const names = (user: string, name: string, more: Omit<Change, 'user'> = {}): Change =>
  change(user, { takes: { [name]: 'username' }, ...more });

export interface World {
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

/** Field and code of every failure of each change. */
export const codesOf = (
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
