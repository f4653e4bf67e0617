import { Changes } from '../../platform/common/field-changes.js';
import { type User, differences, toRow, valueRows, wordRows } from '../model/user.js';
import { type UserPatch, newUser, patched } from '../rules/user-rules.js';
import type { SetConstraint } from '../set-rules/set-constraint.js';
import type { Failure } from '../rules/failure.js';
import { type Identifier, identifiersOf } from '../model/comparison-keys.js';
import type { UserEntity } from '../model/user.entity.js';
import type { UserValueEntity, UserWordEntity } from '../model/user-lookups.entity.js';

export interface UserChange {
  /** `delete` moves the user to `deleted_users`, `restore` takes it back from there; both have an empty patch. */
  kind: 'create' | 'update' | 'delete' | 'restore';
  /** Of the user to change, or that the new user gets. At most one change a user in a set. */
  uuid: string;
  patch: UserPatch;
  /** The versions that the client may have read (`If-Match`); with any other one the change is refused. */
  ifVersions?: readonly number[];
  /** An identity provider changes the user: of Webmasters it may change less than they are protected in (`privilege.ts`). */
  byProvider?: boolean;
  /** Of a new user: what its patch makes, where the caller has prepared it. */
  prepared?: PreparedUser;
  /** The user as `UserWriter.lock` gave it in this transaction, which then is not read again. */
  locked?: User;
}

/** What became of one change. */
export type Outcome =
  /** Of a deleted user: the user as it was. */
  | { outcome: 'created' | 'updated' | 'unchanged' | 'deleted' | 'restored'; user: User; changes: Changes }
  | { outcome: 'error'; failures: readonly Failure[] };

/** A change with the state before it (none for a new user) and after it, and why it may not be made. */
export interface ValidatedSetChange {
  kind: UserChange['kind'];
  before: User | undefined;
  /** Of a deleted user: as it was. */
  after: User;
  /** Of a new or restored user. */
  prepared?: PreparedUser | undefined;
  /** None for a change that touches no other user. */
  constraint?: SetConstraint | undefined;
  failures: readonly Failure[];
}

/**
 * A new user with all that its rows are made of, except for the time of its creation: an import prepares the next users
 * while the database writes these.
 */
export interface PreparedUser {
  user: User;
  row: UserEntity;
  identifiers: readonly Identifier[];
  words: readonly UserWordEntity[];
  values: readonly UserValueEntity[];
  /** What its audit row says. */
  changes: Changes;
}

const LATER = '';

/** @param changes what the patch sets, where the caller knows its text. */
export function prepareUser(uuid: string, patch: UserPatch, changes?: Changes): PreparedUser {
  const user = patched(newUser(uuid, LATER), patch);
  return rowsOf(user, changes);
}

/** All that a user's rows are made of, whatever the user has been before. */
export function rowsOf(user: User, changes?: Changes): PreparedUser {
  return {
    user,
    row: toRow(user),
    identifiers: identifiersOf(user),
    words: wordRows(user),
    values: valueRows(user),
    changes: changes ?? Changes.of(differences(undefined, user)),
  };
}

/** The same user or row, created at this time, and last changed then or at `updated`. */
export const createdAt = <T extends { created: string; updated: string }>(
  made: T,
  created: string,
  updated = created,
): T => ({ ...made, created, updated });
