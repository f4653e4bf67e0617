import { Inject, Injectable } from '@nestjs/common';
import { sha256 } from '../../platform/common/secrets.js';
import { type DbTime, DAY_SECONDS, addSeconds, now } from '../../platform/common/time.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import { type Sql, deleteRows, selectWhereIn, upsertRows } from '../../platform/database/engine/sql.js';
import { toLoginKey, toOwnerHash } from '../model/comparison-keys.js';
import type { User } from '../model/user.js';
import { ReleasedUsernameEntity } from '../model/user-lookups.entity.js';

/** Days for which an import does not give a released username to another person (interface §6). */
const RESERVED_DAYS = 180;
const PURGE_BATCH_SIZE = 500;

/** Computes the time of the oldest release whose username is still reserved. */
const computeOldestTime = (): DbTime => addSeconds(now(), -RESERVED_DAYS * DAY_SECONDS);

const toUsernameHash = (username: string): string => sha256(toLoginKey(username));

/**
 * Stores released usernames. They are hashed, because a user may be erased while the username is
 * reserved.
 */
@Injectable()
export class ReleasedUsernames {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /** @param users the users before the changes that released their usernames. */
  async add(tx: Sql, users: readonly User[], released: DbTime): Promise<void> {
    const rows = users.map(({ username, external_id }) => ({
      username_hash: toUsernameHash(username),
      owner_hash: toOwnerHash(external_id),
      released,
    }));
    // Sort by key, to avoid deadlocks.
    const sorted = rows.toSorted((a, b) => (a.username_hash < b.username_hash ? -1 : 1));
    await upsertRows(tx, ReleasedUsernameEntity, ['username_hash'], sorted);
  }

  /** @returns a map from the login key of each reserved username to the hash of its last owner (`toOwnerHash`). */
  async findOwners(usernames: readonly string[]): Promise<Map<string, string>> {
    const hashes = new Map(usernames.map((username) => [toUsernameHash(username), toLoginKey(username)]));
    const toSql = (list: string) =>
      `SELECT username_hash, owner_hash, released FROM released_usernames WHERE username_hash IN (${list})`;
    const rows = await selectWhereIn<ReleasedUsernameEntity>(this.database, [...hashes.keys()], toSql);
    const reserved = rows.filter(({ released }) => released >= computeOldestTime());
    return new Map(reserved.map((row) => [hashes.get(row.username_hash) ?? '', row.owner_hash]));
  }

  /** Deletes a batch of usernames that are no longer reserved. @returns true if more of these usernames may remain. */
  async purge(): Promise<boolean> {
    const sql = 'SELECT username_hash FROM released_usernames WHERE released < ? ORDER BY released LIMIT ?';
    const params = [computeOldestTime(), PURGE_BATCH_SIZE];
    const rows = await this.database.query<ReleasedUsernameEntity>(sql, params);
    const hashes = rows.map(({ username_hash }) => username_hash);
    await deleteRows(this.database, ReleasedUsernameEntity, 'username_hash', hashes);
    return rows.length === PURGE_BATCH_SIZE;
  }
}
