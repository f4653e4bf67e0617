import { Changes } from '../../platform/common/field-changes.js';
import { type User, diffUsers, toUserRow, toValueRows, toWordRows } from '../model/user.js';
import { type UserPatch, createEmptyUser, applyPatch } from '../rules/user-rules.js';
import type { SetConstraint } from '../set-rules/set-constraint.js';
import type { Failure } from '../rules/failure.js';
import { type Identifier, identifiersOf } from '../model/comparison-keys.js';
import type { UserEntity } from '../model/user.entity.js';
import type { UserValueEntity, UserWordEntity } from '../model/user-lookups.entity.js';

export interface UserChange {
  /** `delete` moves the user to `deleted_users`, and `restore` moves it back. Both have an empty patch. */
  kind: 'create' | 'update' | 'delete' | 'restore';
  /** Uuid of the existing or new user. A change set has at most one change per user. */
  uuid: string;
  patch: UserPatch;
  /** Versions that `If-Match` allows. The change fails if the user has another version. */
  ifVersions?: readonly number[];
  /**
   * True if the change comes from an identity provider, which needs the scope `webmasters` only for protected fields of
   * Webmasters.
   */
  byProvider?: boolean;
  /** The new user with its rows, if the caller has already prepared them. */
  prepared?: PreparedUser;
  /** The user, if the caller has already locked it with `UserWriter.lock` in this transaction. Saves a second read. */
  locked?: User;
}

/** Result of one change of a change set. */
export type ChangeOutcome =
  /** After a deletion, `user` is the deleted user. */
  | { outcome: 'created' | 'updated' | 'unchanged' | 'deleted' | 'restored'; user: User; changes: Changes }
  | { outcome: 'error'; failures: readonly Failure[] };

/** A validated change with the states of its user and its failures. */
export interface CheckedChange {
  kind: UserChange['kind'];
  /** Undefined for a new or restored user. */
  before: User | undefined;
  /** After a deletion, this is the deleted user. */
  after: User;
  /** Set for a new or restored user. */
  prepared?: PreparedUser | undefined;
  /** Undefined for a change that cannot affect other users. */
  constraint?: SetConstraint | undefined;
  failures: readonly Failure[];
}

/**
 * A new user with the contents of its rows, except for the time of creation. An import prepares the next batch while the
 * database writes the current one.
 */
export interface PreparedUser {
  user: User;
  row: UserEntity;
  identifiers: readonly Identifier[];
  words: readonly UserWordEntity[];
  values: readonly UserValueEntity[];
  /** Changes for the audit. */
  changes: Changes;
}

/** Placeholder for `created` and `updated` until the user is created. */
const UNKNOWN_TIME = '';

/** Prepares a new user. @param changes changes for the audit, if already known. */
export function prepareUser(uuid: string, patch: UserPatch, changes?: Changes): PreparedUser {
  const user = applyPatch(createEmptyUser(uuid, UNKNOWN_TIME), patch);
  return toPreparedUser(user, changes);
}

/** Computes the contents of all rows of a user. */
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

/** Returns a copy of a user or row with other times. */
export const setTimes = <T extends { created: string; updated: string }>(
  source: T,
  created: string,
  updated = created,
): T => ({ ...source, created, updated });
