import type { Caller } from '../../access/actor.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import type { Versions } from '../../platform/http/entity-tags.js';
import { Changes } from '../../platform/common/field-changes.js';
import { type User, diffUsers, toUserRow, toValueRows, toWordRows } from '../model/user.js';
import { type UserPatch, createEmptyUser, applyPatch } from '../rules/user-rules.js';
import type { SetConstraint } from '../set-rules/set-constraint.js';
import type { Failure } from '../rules/failure.js';
import { type Identifier, identifiersOf } from '../model/comparison-keys.js';
import type { UserEntity } from '../model/user.entity.js';
import type { UserValueEntity, UserWordEntity } from '../model/user-lookups.entity.js';

export interface UserChange {
  /** `delete` moves the user to `deleted_users`, and `restore` moves the user back. Both have an empty patch. */
  kind: 'create' | 'update' | 'delete' | 'restore';
  /** A change set contains at most one change for each uuid. */
  uuid: string;
  patch: UserPatch;
  /**
   * Versions that the user may have. If the user has another version, the change fails. For a restore, the versions after
   * the restore.
   */
  ifVersions?: Versions;
  /** True for changes by an identity provider, which needs the scope `webmasters` only for the protected fields. */
  byProvider?: boolean;
  /** The new user, if already prepared before the transaction. */
  prepared?: PreparedUser;
  /** The user, if already locked in this transaction (see `UserWriter.lock`). */
  locked?: User;
}

/** A change that is prepared before its transaction and completed in it, possibly together with other changes. */
export interface PendingChange {
  kind: UserChange['kind'];
  uuid: string;
  /**
   * Builds the rest of the change. It may run again, because a transaction may be retried.
   * @param user the locked user, or undefined for a new, restored or missing user.
   * @param added ids of the users that the same set of changes creates.
   * @throws ProblemError if the change is invalid for this user.
   */
  buildChange: (
    tx: Sql,
    user: User | undefined,
    added?: ReadonlySet<string>,
  ) => ChangeDetails | Promise<ChangeDetails>;
}

type ChangeDetails = Omit<UserChange, 'kind' | 'uuid'>;

export async function completeChange(
  { kind, uuid, buildChange }: PendingChange,
  ...input: Parameters<PendingChange['buildChange']>
): Promise<UserChange> {
  return { kind, uuid, ...(await buildChange(...input)) };
}

/** Creates the deletion of a user. @param assertVisible throws if the user is missing or hidden from the caller. */
export function createDeletion(
  uuid: string,
  assertVisible: (user: User | undefined) => User,
  ifVersions: Versions,
): PendingChange {
  const buildChange: PendingChange['buildChange'] = (_, user) => {
    return { patch: {}, ifVersions, locked: assertVisible(user) };
  };
  return { kind: 'delete', uuid, buildChange };
}

/** A change and the caller that is responsible for it. */
export interface CallerChange {
  change: UserChange;
  caller: Caller;
}

export type ChangeOutcome =
  /** `user` is the user after the change. For a deletion, it is the user before the change. */
  | { outcome: 'created' | 'updated' | 'unchanged' | 'deleted' | 'restored'; user: User; changes: Changes }
  | { outcome: 'error'; failures: readonly Failure[] };

export interface CheckedChange {
  kind: UserChange['kind'];
  caller: Caller;
  /** The user before the change. Undefined for a new or restored user. */
  before: User | undefined;
  /** The user after the change. For a deletion, the same as `before`. */
  after: User;
  prepared?: PreparedUser | undefined;
  /** The effects that the set rules must check. Undefined if the change cannot affect other users. */
  constraint?: SetConstraint | undefined;
  failures: readonly Failure[];
}

/**
 * A new user with the contents of all rows, but without `created` and `updated`. An import can prepare it while the
 * database writes another batch.
 */
export interface PreparedUser {
  user: User;
  row: UserEntity;
  identifiers: readonly Identifier[];
  words: readonly UserWordEntity[];
  values: readonly UserValueEntity[];
  changes: Changes;
}

/** Placeholder for `created` and `updated` until the user is written. */
const UNKNOWN_TIME = '';

/**
 * Creates a user and computes the contents of its rows.
 * @param changes field changes for the audit, if already known.
 */
export function prepareUser(uuid: string, patch: UserPatch, changes?: Changes): PreparedUser {
  const user = applyPatch(createEmptyUser(uuid, UNKNOWN_TIME), patch);
  return toPreparedUser(user, changes);
}

export function toPreparedUser(user: User, changes?: Changes): PreparedUser {
  return {
    user,
    row: toUserRow(user),
    identifiers: identifiersOf(user),
    words: toWordRows(user),
    values: toValueRows(user),
    changes: changes ?? Changes.fromList(diffUsers(undefined, user)),
  };
}

/**
 * Returns deleted users as they are after the restore: without groups, and without a manager who neither exists nor is
 * restored together with the user.
 * @param existing existing managers by uuid. Without it, all managers are kept.
 */
export function toRestoredUsers(
  deleted: ReadonlyMap<string, User>,
  existing?: ReadonlyMap<string, unknown>,
): Map<string, User> {
  const keep = (manager: string | null) =>
    !existing || (manager !== null && (existing.has(manager) || deleted.has(manager))) ? manager : null;
  const restore = (user: User): User => ({
    ...user,
    group_roles: [],
    manager_uuid: keep(user.manager_uuid),
    version: user.version + 1,
  });
  return new Map([...deleted].map(([uuid, user]) => [uuid, restore(user)]));
}
