import { Changes } from '../../platform/common/field-changes.js';
import { type User, diffUsers, toUserRow, toValueRows, toWordRows } from '../model/user.js';
import { type UserPatch, createEmptyUser, applyPatch } from '../rules/user-rules.js';
import type { SetConstraint } from '../set-rules/set-constraint.js';
import type { Failure } from '../rules/failure.js';
import { type Identifier, identifiersOf } from '../model/comparison-keys.js';
import type { UserEntity } from '../model/user.entity.js';
import type { UserValueEntity, UserWordEntity } from '../model/user-lookups.entity.js';

export interface UserChange {
  /**
   * `delete` moves the user to the table `deleted_users`, and `restore` moves the user back. The patch is empty in both
   * cases.
   */
  kind: 'create' | 'update' | 'delete' | 'restore';
  /** Uuid of the user, who may be new. A change set contains at most one change per user. */
  uuid: string;
  patch: UserPatch;
  /** Versions that `If-Match` allows. If the user has another version, the change fails. */
  ifVersions?: readonly number[];
  /**
   * True if an identity provider makes the change. To change a Webmaster, it needs the scope `webmasters` only for the
   * protected fields.
   */
  byProvider?: boolean;
  /** The new user with the contents of its rows, if the caller has prepared them before the transaction. */
  prepared?: PreparedUser;
  /**
   * The user, if the caller has already locked the user with `UserWriter.lock` in this transaction. It need not be read
   * again.
   */
  locked?: User;
}

/** The result of one change of a change set. */
export type ChangeOutcome =
  /** `user` is the user after the change. After a deletion, it is the user as deleted. */
  | { outcome: 'created' | 'updated' | 'unchanged' | 'deleted' | 'restored'; user: User; changes: Changes }
  | { outcome: 'error'; failures: readonly Failure[] };

/** A validated change with its failures, and with the user before and after the change. */
export interface CheckedChange {
  kind: UserChange['kind'];
  /** The user before the change. Undefined for a new or restored user. */
  before: User | undefined;
  /** The user after the change. For a deletion, this is the user as deleted. */
  after: User;
  /** The contents of all rows of the user. Set for a new or restored user. */
  prepared?: PreparedUser | undefined;
  /** The effects of the change that the set rules must check. Undefined if the change cannot affect other users. */
  constraint?: SetConstraint | undefined;
  failures: readonly Failure[];
}

/**
 * A new user with the contents of all rows, but without the time of creation. An import can therefore prepare the next
 * batch while the database writes the current batch.
 */
export interface PreparedUser {
  user: User;
  row: UserEntity;
  identifiers: readonly Identifier[];
  words: readonly UserWordEntity[];
  values: readonly UserValueEntity[];
  /** Field changes for the audit. */
  changes: Changes;
}

/** Placeholder for `created` and `updated`, which are set when the user is written. */
const UNKNOWN_TIME = '';

/**
 * Creates the user and computes the contents of its rows.
 * @param changes field changes for the audit, if already known.
 */
export function prepareUser(uuid: string, patch: UserPatch, changes?: Changes): PreparedUser {
  const user = applyPatch(createEmptyUser(uuid, UNKNOWN_TIME), patch);
  return toPreparedUser(user, changes);
}

/** Computes the contents of all rows of a user. @param changes field changes for the audit, if already known. */
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

/** Returns a copy of a user or a row with the given times. */
export const setTimes = <T extends { created: string; updated: string }>(
  source: T,
  created: string,
  updated = created,
): T => ({ ...source, created, updated });
