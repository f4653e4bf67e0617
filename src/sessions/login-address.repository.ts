import { Inject, Injectable } from '@nestjs/common';
import { type DbTime, secondsFrom } from '../platform/common/time.js';
import { insertRows } from '../platform/database/engine/bulk.js';
import { DATABASE, type Database } from '../platform/database/engine/database.js';
import type { Sql } from '../platform/database/engine/sql.js';
import { LoginAddressEntity } from './login-address.entity.js';

const DAY_SECONDS = 24 * 60 * 60;
/** Networks kept of one user: those of the latest logins. */
const MOST_NETWORKS = 20;

/** Hand-written SQL: part of the transaction of a login (ADR 0013). */
@Injectable()
export class LoginAddressRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  async has(userUuid: string, network: string): Promise<boolean> {
    const row = await this.database.first(
      'SELECT network FROM login_addresses WHERE user_uuid = ? AND network = ?',
      [userUuid, network],
    );
    return row !== undefined;
  }

  /** The user's row must be locked: two logins at once would keep one network too many. */
  async remember(tx: Sql, userUuid: string, network: string, time: DbTime): Promise<void> {
    const kept = await tx.query<LoginAddressEntity>(
      'SELECT network, last_login FROM login_addresses WHERE user_uuid = ? ORDER BY last_login DESC, network',
      [userUuid],
    );
    const own = kept.find((row) => row.network === network);
    if (own && own.last_login > secondsFrom(time, -DAY_SECONDS)) return;
    if (own) {
      await tx.execute('UPDATE login_addresses SET last_login = ? WHERE user_uuid = ? AND network = ?', [
        ...[time, userUuid, network],
      ]);
      return;
    }
    for (const { network: oldest } of kept.slice(MOST_NETWORKS - 1)) {
      await tx.execute('DELETE FROM login_addresses WHERE user_uuid = ? AND network = ?', [userUuid, oldest]);
    }
    await insertRows(tx, LoginAddressEntity, [{ user_uuid: userUuid, network, last_login: time }]);
  }

  async deleteBefore(time: DbTime): Promise<void> {
    await this.database.execute('DELETE FROM login_addresses WHERE last_login <= ?', [time]);
  }
}
