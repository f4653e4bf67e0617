import { Changes } from '../../platform/common/changes.js';
import { type UserPatch, newUser, patched } from '../rules/user-rules.js';
import { type Identifier, identifiersOf } from '../model/keys.js';
import type { UserEntity } from '../model/user.entity.js';
import type { UserValueEntity, UserWordEntity } from '../model/user-lookups.entity.js';
import { type User, differences, toRow } from '../model/user.js';
import { valueRows } from '../model/values.js';
import { wordRows } from '../model/words.js';

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
