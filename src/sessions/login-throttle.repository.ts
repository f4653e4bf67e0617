import { Inject, Injectable } from '@nestjs/common';
import { insertRows } from '../platform/database/engine/bulk.js';
import { DATABASE, type Database } from '../platform/database/engine/database.js';
import { type Sql, placeholders } from '../platform/database/engine/sql.js';
import { LoginFailureEntity } from './login-failure.entity.js';

/** Hand-written SQL: failures are counted by the database, in one statement (ADR 0013). */
@Injectable()
export class LoginThrottleRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /** The windows of the scopes that end after `time`. */
  async find(scopes: readonly string[], time: string): Promise<LoginFailureEntity[]> {
    return this.database.query(
      `SELECT scope, failures, window_ends FROM login_failures
       WHERE scope IN (${placeholders(scopes.length)}) AND window_ends > ?`,
      [...scopes, time],
    );
  }

  /** One more failure in the running window, or the first of a new one. */
  async count(tx: Sql, scope: string, time: string, windowEnds: string): Promise<void> {
    // MySQL assigns from left to right: `failures` must be set while `window_ends` still has its old value.
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

  async clear(tx: Sql, scope: string): Promise<void> {
    await tx.execute('DELETE FROM login_failures WHERE scope = ?', [scope]);
  }

  async deleteEnded(time: string): Promise<number> {
    return this.database.execute('DELETE FROM login_failures WHERE window_ends <= ?', [time]);
  }
}
