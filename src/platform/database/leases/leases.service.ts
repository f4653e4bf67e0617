import { Inject, Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { type DbTime, isUntrusted, now } from '../../common/time.js';
import type { Dialect, Sql } from '../engine/sql.js';
import { DATABASE, type Database } from '../engine/database.js';
import { DatabaseError } from '../engine/database-error.js';
import { ChangeWatch } from './change-watch.js';
import type { LeaseEntity } from './lease.entity.js';

const HEARTBEAT_MILLIS = 1000;

/** End time of a free lease. */
const NEVER = '1970-01-01 00:00:00.000';
const NO_OWNER = '00000000-0000-0000-0000-000000000000';

/** SQL for the next heartbeat of a lease. Each heartbeat stores a different time, from the clock of the database. */
const LATER: Record<Dialect, string> = {
  mysql: 'UTC_TIMESTAMP(3) + INTERVAL ? SECOND',
  sqlite: "strftime('%Y-%m-%d %H:%M:%f', 'now', ? || ' seconds')",
};

/**
 * Leases for work that only one instance may do at a time (ADR 13). A lease belongs to one instance as long as this
 * instance renews it. If two Galera nodes take a free lease at once, only one of them succeeds (ADR 15).
 */
@Injectable()
export class Leases {
  /** Id of this instance. */
  readonly owner = uuidv7();
  protected readonly table: string = 'leases';
  private readonly watch = new ChangeWatch();

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

  /** Takes a lease that is free, lost, or held by this instance. Returns false if another instance holds it. */
  async acquire(name: string, seconds: number): Promise<boolean> {
    const tryTakeLease = async () =>
      (await this.database.execute(
        `UPDATE ${this.table} SET owner = ?, until = ${LATER[this.database.dialect]} WHERE name = ? AND owner IN (?, ?)`,
        [this.owner, seconds, name, this.owner, NO_OWNER],
      )) > 0;
    return (await tryTakeLease()) || (!(await this.isHeld(name, seconds)) && (await tryTakeLease()));
  }

  /**
   * Returns true if an instance holds the lease. Frees the lease if this instance has seen no heartbeat for `seconds`,
   * whatever the clocks show (interface §9). Call it repeatedly, because only repeated calls detect a lost lease.
   */
  async isHeld(name: string, seconds: number): Promise<boolean> {
    const lease = await this.find(name);
    // Several instances may insert the row at once. The primary key lets only one INSERT succeed.
    const insert = `INSERT INTO ${this.table} (name, owner, until) VALUES (?, ?, ?)`;
    if (!lease)
      await this.database.execute(insert, [name, NO_OWNER, NEVER]).catch((error: unknown) => {
        if (!(error instanceof DatabaseError && error.fault === 'duplicate')) throw error;
      });
    if (!lease || lease.owner === NO_OWNER) return false;
    const { owner, until } = lease;
    if (!this.watch.hasStopped(name, `${owner} ${until}`, seconds)) return true;
    const free = `UPDATE ${this.table} SET owner = ? WHERE name = ? AND owner = ? AND until = ?`;
    return (await this.database.execute(free, [NO_OWNER, name, owner, until])) === 0;
  }

  /**
   * Renews the lease. Returns false if this instance no longer owns the lease. If `sql` is a transaction, no other
   * instance can take the lease before that transaction ends.
   */
  async renew(name: string, seconds: number, sql: Sql = this.database): Promise<boolean> {
    const update = `UPDATE ${this.table} SET until = ${LATER[sql.dialect]} WHERE name = ? AND owner = ?`;
    return (await sql.execute(update, [seconds, name, this.owner])) > 0;
  }

  async release(name: string): Promise<void> {
    const update = `UPDATE ${this.table} SET owner = ?, until = ? WHERE name = ? AND owner = ?`;
    await this.database.execute(update, [NO_OWNER, NEVER, name, this.owner]);
  }

  /**
   * Returns the time that `recordTime` stored last, or undefined if no time has been stored. Replaces a time that is not
   * trusted with the current time.
   */
  async findRecordedTime(name: string): Promise<DbTime | undefined> {
    const recorded = (await this.find(name))?.until;
    if (recorded === undefined || !isUntrusted(recorded)) return recorded;
    const time = now();
    await this.recordTime(name, time);
    return time;
  }

  /** Stores a time in the row of a lease. All instances can read it with `findRecordedTime`. */
  async recordTime(name: string, time: DbTime): Promise<void> {
    await this.isHeld(name, 0);
    const update = `UPDATE ${this.table} SET owner = ?, until = ? WHERE name = ?`;
    await this.database.execute(update, [NO_OWNER, time, name]);
  }

  private find(name: string): Promise<Pick<LeaseEntity, 'owner' | 'until'> | undefined> {
    return this.database.queryOne(`SELECT owner, until FROM ${this.table} WHERE name = ?`, [name]);
  }
}
