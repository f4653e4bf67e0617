import { Inject, Injectable } from '@nestjs/common';
import { type Sql, deleteRows, insertRows, toPlaceholders } from '../platform/database/engine/sql.js';
import { DATABASE, type Database } from '../platform/database/engine/database.js';
import { LoginDeviceEntity, LoginFailureEntity } from './login.entity.js';

/**
 * Reads and writes failed logins and devices. Uses hand-written SQL, so that a failure is counted by a single statement
 * (ADR 13).
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

  async clear(scope: string): Promise<void> {
    await this.database.execute('DELETE FROM login_failures WHERE scope = ?', [scope]);
  }

  async deleteEnded(time: string): Promise<number> {
    return this.database.execute('DELETE FROM login_failures WHERE window_ends <= ?', [time]);
  }

  /** Returns the devices among the hashes that belong to the user and have not expired at `time`. */
  async findDevices(userUuid: string, hashes: readonly string[], time: string): Promise<LoginDeviceEntity[]> {
    return this.database.query(
      `SELECT token_hash FROM login_devices
       WHERE token_hash IN (${toPlaceholders(hashes.length)}) AND user_uuid = ? AND expires > ?`,
      [...hashes, userUuid, time],
    );
  }

  /** @returns the number of devices with this hash, 0 or 1. */
  async renewDevice(tx: Sql, hash: string, expires: string): Promise<number> {
    return tx.execute('UPDATE login_devices SET expires = ? WHERE token_hash = ?', [expires, hash]);
  }

  /** Stores a new device of a user, whose row the caller must have locked. Keeps only the `max` latest devices. */
  async addDevice(tx: Sql, device: LoginDeviceEntity, max: number): Promise<void> {
    const sql = 'SELECT token_hash FROM login_devices WHERE user_uuid = ? ORDER BY expires DESC, token_hash';
    const devices = await tx.query<LoginDeviceEntity>(sql, [device.user_uuid]);
    for (const { token_hash } of devices.slice(max - 1))
      await tx.execute('DELETE FROM login_devices WHERE token_hash = ?', [token_hash]);
    await insertRows(tx, LoginDeviceEntity, [device]);
  }

  async deleteDevices(tx: Sql, userUuids: readonly string[]): Promise<void> {
    await deleteRows(tx, LoginDeviceEntity, 'user_uuid', userUuids);
  }

  /** Deletes devices that expired before `time`. Shortens the lifetime of devices that expire after `latest`. */
  async purgeDevices(time: string, latest: string): Promise<void> {
    await this.database.execute('DELETE FROM login_devices WHERE expires <= ?', [time]);
    await this.database.execute('UPDATE login_devices SET expires = ? WHERE expires > ?', [latest, latest]);
  }
}
