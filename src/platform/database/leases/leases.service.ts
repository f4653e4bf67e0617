import { Inject, Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { DbTime } from '../../common/time.js';
import { type Dialect, type Sql, insertRows } from '../engine/sql.js';
import { DATABASE, type Database } from '../engine/database.js';
import { LeaseEntity } from './lease.entity.js';

const HEARTBEAT_MILLIS = 1000;

/** End time of a free lease. */
const NEVER = '1970-01-01 00:00:00.000';
const NO_OWNER = '00000000-0000-0000-0000-000000000000';

/**
 * SQL for the current time of the database. The clocks of instances are not used, because an instance whose clock is
 * ahead would take leases that have not expired.
 */
const NOW: Record<Dialect, string> = {
  mysql: 'UTC_TIMESTAMP(3)',
  sqlite: "strftime('%Y-%m-%d %H:%M:%f', 'now')",
};
const LATER: Record<Dialect, string> = {
  mysql: 'UTC_TIMESTAMP(3) + INTERVAL ? SECOND',
  sqlite: "strftime('%Y-%m-%d %H:%M:%f', 'now', ? || ' seconds')",
};

/**
 * Leases for work that only one instance may do at a time (ADR 13). A lease belongs to one instance until its end time,
 * which this instance can extend. If two Galera nodes take a free lease at once, only one of them succeeds (ADR 15).
 */
@Injectable()
export class Leases {
  /** Id of this instance. */
  readonly owner = uuidv7();

  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /**
   * Runs `work` under a lease, which a heartbeat renews until the work ends. If this instance crashes, the lease
   * expires after `seconds`.
   * @returns false, without running `work`, if another instance holds the lease.
   */
  async runUnderLease(name: string, seconds: number, work: () => Promise<void>): Promise<boolean> {
    if (!(await this.acquire(name, seconds))) return false;
    // Ignores a failed heartbeat, because the next heartbeat renews the lease too. Work that must stop when its lease
    // is lost checks the lease itself.
    const sendHeartbeat = () => void this.renew(name, seconds).catch(() => undefined);
    const heartbeat = setInterval(sendHeartbeat, HEARTBEAT_MILLIS);
    try {
      await work();
    } finally {
      clearInterval(heartbeat);
      await this.release(name);
    }
    return true;
  }

  /** Takes a lease that is free, expired, or held by this instance. Returns false if another instance holds it. */
  async acquire(name: string, seconds: number): Promise<boolean> {
    const { dialect } = this.database;
    const tryTakeLease = () =>
      this.database.execute(
        `UPDATE leases SET owner = ?, until = ${LATER[dialect]}
         WHERE name = ? AND (owner = ? OR until < ${NOW[dialect]})`,
        [this.owner, seconds, name, this.owner],
      );
    if ((await tryTakeLease()) > 0) return true;
    if (await this.find(name)) return false;
    // Several instances may insert the row at once. The primary key lets only one INSERT succeed.
    const row = { name, owner: NO_OWNER, until: NEVER };
    await insertRows(this.database, LeaseEntity, [row]).catch(() => undefined);
    return (await tryTakeLease()) > 0;
  }

  /**
   * Renews the lease. Returns false if this instance no longer owns the lease. If `sql` is a transaction, no other
   * instance can take the lease before that transaction ends.
   */
  async renew(name: string, seconds: number, sql: Sql = this.database): Promise<boolean> {
    const update = `UPDATE leases SET until = ${LATER[sql.dialect]} WHERE name = ? AND owner = ?`;
    return (await sql.execute(update, [seconds, name, this.owner])) > 0;
  }

  async release(name: string): Promise<void> {
    const update = 'UPDATE leases SET owner = ?, until = ? WHERE name = ? AND owner = ?';
    await this.database.execute(update, [NO_OWNER, NEVER, name, this.owner]);
  }

  /** Returns true if an instance holds the lease. If the instance crashes, this stays true until the lease expires. */
  async isHeld(name: string): Promise<boolean> {
    return (await this.find(name))?.held === 1;
  }

  /** Returns the time that `recordTime` stored last, or undefined if no time has been stored. */
  async findRecordedTime(name: string): Promise<DbTime | undefined> {
    return (await this.find(name))?.until;
  }

  /** Stores a time in the row of a lease. All instances can read it with `findRecordedTime`. */
  async recordTime(name: string, time: DbTime): Promise<void> {
    await this.acquire(name, 0);
    const update = 'UPDATE leases SET owner = ?, until = ? WHERE name = ?';
    await this.database.execute(update, [this.owner, time, name]);
  }

  private find(name: string): Promise<{ until: string; held: number } | undefined> {
    const held = `until >= ${NOW[this.database.dialect]}`;
    return this.database.queryOne(`SELECT until, ${held} AS held FROM leases WHERE name = ?`, [name]);
  }
}
