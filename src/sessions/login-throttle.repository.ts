import { Inject, Injectable } from '@nestjs/common';
import { type DbTime, addSeconds, isUntrusted } from '../platform/common/time.js';
import { type Sql, insertRows, toPlaceholders } from '../platform/database/engine/sql.js';
import { DATABASE, type Database } from '../platform/database/engine/database.js';
import { LoginAddressEntity, LoginFailureEntity } from './login.entity.js';

const DAY_SECONDS = 24 * 60 * 60;
/**
 * Maximum number of networks that are stored per user. Above this number, the networks with the oldest logins are
 * deleted.
 */
const MAX_NETWORKS = 20;

/**
 * Reads and writes failed logins, and the networks from which users have logged in. Uses hand-written SQL, so that a
 * failure is counted by a single statement (ADR 13).
 */
@Injectable()
export class LoginThrottleRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  async find(scopes: readonly string[], time: string): Promise<LoginFailureEntity[]> {
    return this.database.query(
      `SELECT scope, failures, window_ends FROM login_failures
       WHERE scope IN (${toPlaceholders(scopes.length)}) AND window_ends > ?`,
      [...scopes, time],
    );
  }

  /**
   * Counts a failed login in the current window of the scope. If the window has ended, the failure is the first one of
   * a new window.
   */
  async countFailure(tx: Sql, scope: string, time: string, windowEnds: string): Promise<void> {
    // MySQL assigns from left to right, so `failures` must be computed before `window_ends` changes.
    const counted = await tx.execute(
      `UPDATE login_failures
       SET failures = CASE WHEN window_ends > ? THEN failures + 1 ELSE 1 END,
           window_ends = CASE WHEN window_ends > ? THEN window_ends ELSE ? END
       WHERE scope = ?`,
      [time, time, windowEnds, scope],
    );
    if (counted === 0) {
      await insertRows(tx, LoginFailureEntity, [{ scope, failures: 1, window_ends: windowEnds }]);
    }
  }

  async shortenWindow({ scope, window_ends: end }: LoginFailureEntity): Promise<void> {
    const update = 'UPDATE login_failures SET window_ends = ? WHERE scope = ? AND window_ends > ?';
    await this.database.execute(update, [end, scope, end]);
  }

  async clear(tx: Sql, scope: string): Promise<void> {
    await tx.execute('DELETE FROM login_failures WHERE scope = ?', [scope]);
  }

  async deleteEnded(time: string): Promise<number> {
    return this.database.execute('DELETE FROM login_failures WHERE window_ends <= ?', [time]);
  }

  async isKnownNetwork(userUuid: string, network: string): Promise<boolean> {
    const row = await this.database.queryOne(
      'SELECT network FROM login_addresses WHERE user_uuid = ? AND network = ?',
      [userUuid, network],
    );
    return row !== undefined;
  }

  /**
   * Stores the network from which a user has logged in. The caller must have locked the row of the user, because
   * concurrent logins could otherwise store too many networks.
   */
  async rememberNetwork(tx: Sql, userUuid: string, network: string, time: DbTime): Promise<void> {
    const stored = await tx.query<LoginAddressEntity>(
      'SELECT network, last_login FROM login_addresses WHERE user_uuid = ? ORDER BY last_login DESC, network',
      [userUuid],
    );
    const own = stored.find((row) => row.network === network);
    const isRecent =
      own && own.last_login > addSeconds(time, -DAY_SECONDS) && !isUntrusted(own.last_login, time);
    if (isRecent) return;
    if (own) {
      const text = 'UPDATE login_addresses SET last_login = ? WHERE user_uuid = ? AND network = ?';
      await tx.execute(text, [time, userUuid, network]);
      return;
    }
    for (const { network: oldest } of stored.slice(MAX_NETWORKS - 1)) {
      await tx.execute('DELETE FROM login_addresses WHERE user_uuid = ? AND network = ?', [userUuid, oldest]);
    }
    await insertRows(tx, LoginAddressEntity, [{ user_uuid: userUuid, network, last_login: time }]);
  }

  async deleteNetworksBefore(time: DbTime): Promise<void> {
    await this.database.execute('DELETE FROM login_addresses WHERE last_login <= ?', [time]);
  }
}
