import type { SetConstraint } from '../../../src/users/set-rules/set-constraint.js';
import { SetValidator } from '../../../src/users/set-rules/set-validator.js';
import type { Owner } from '../../../src/users/set-rules/identifier-changes.js';

type Field = 'username' | 'email' | 'external_id' | 'authname';
export interface Change {
  user: string;
  creates?: boolean;
  /** Fields by the name that the user takes. */
  takes?: Record<string, Field>;
  releases?: string[];
  manager?: [before: string | null, after: string | null];
  webmaster?: SetConstraint['webmaster'];
}
/** Builds a change of a user. */
export const change = (user: string, more: Omit<Change, 'user'> = {}): Change => ({ user, ...more });
/** Builds a change that takes a username. */
export const rename = (user: string, name: string, more: Omit<Change, 'user'> = {}): Change =>
  change(user, { takes: { [name]: 'username' }, ...more });

/** The stored users before the changes. */
export interface World {
  /** Users by name. Users in `unlinked` are without an external id. */
  owners?: Record<string, string>;
  unlinked?: string[];
  managers?: Record<string, string | null>;
  webmasters?: number;
}

function createValidator(changes: readonly Change[], world: World): SetValidator {
  const validator = new SetValidator({ nameOf: (change) => `change ${change}`, isImport: true });
  const owners = new Map(
    Object.entries(world.owners ?? {}).map(([name, uuid]): [string, Owner] => [
      name,
      { uuid, external_id: world.unlinked?.includes(uuid) ? '' : `id of ${uuid}` },
    ]),
  );
  changes.forEach(({ user, creates = false, takes = {}, releases = [], manager, webmaster }, index) => {
    const constraint: SetConstraint = {
      change: index + 1,
      user,
      creates,
      released: releases.map((identifier) => ({ identifier, field: 'username' })),
      taken: Object.entries(takes).map(([identifier, field]) => ({ identifier, field })),
      ...(manager && { manager: { before: manager[0], after: manager[1] } }),
      ...(webmaster && { webmaster }),
    };
    validator.add(constraint, owners);
  });
  for (const [user, manager] of Object.entries(world.managers ?? {}))
    validator.managers.addExistingManager(user, manager);
  return validator;
}

/** Validates changes. Returns field and code of every failure of each change. */
export const codesOf = (changes: readonly Change[], world: World, withdrawn: number[] = []) => {
  const state = createValidator(changes, world);
  for (const change of withdrawn) state.markFailed(change);
  const failures = state.validate(world.webmasters ?? 1);
  return changes.map((_, index) =>
    (failures.get(index + 1) ?? []).map(({ field, code }) => `${field} ${code}`),
  );
};
