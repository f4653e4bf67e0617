import { Inject, Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { DbTime } from '../../common/time.js';
import { type Dialect, type Sql, insertRows } from '../engine/sql.js';
import { DATABASE, type Database } from '../engine/database.js';
import { LeaseEntity } from './lease.entity.js';

const HEARTBEAT_MILLIS = 1000;

/** The end and the owner of a lease that is free. */
const NEVER = '1970-01-01 00:00:00.000';
const NO_OWNER = '00000000-0000-0000-0000-000000000000';

/**
 * The database's clock, now and in `?` seconds: the clocks of instances may differ, and one that is ahead would take a
 * lease from an owner that lives. Where each instance writes to a node of its own these are the clocks of the nodes.
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
 * Work that one instance of several does at a time: a lease has one owner, until a time that the owner extends while it
 * lives. The condition of an update decides who gets it (ADR 0013). On Galera two nodes may both find it free: the
 * certification of the row admits one update, and the other is run again and finds it taken (ADR 0015).
 */
@Injectable()
export class Leases {
  /** This instance. */
  readonly owner = uuidv7();

  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /**
   * Works while this instance holds the lease, which a heartbeat moves on however long the work takes. After a crash
   * another instance takes it when `seconds` have passed.
   * @returns false, with nothing done, while another instance holds it.
   */
  async hold(name: string, seconds: number, work: () => Promise<void>): Promise<boolean> {
    if (!(await this.take(name, seconds))) return false;
    // A beat that fails is made up for by the next one. Work that must not go on without its lease looks at it.
    const beat = () => void this.keep(name, seconds).catch(() => undefined);
    const heartbeat = setInterval(beat, HEARTBEAT_MILLIS);
    try {
      await work();
    } finally {
      clearInterval(heartbeat);
      await this.give(name);
    }
    return true;
  }

  /** Takes a lease that is free, expired, or held by this instance. @returns false while another one holds it. */
  async take(name: string, seconds: number): Promise<boolean> {
    const { dialect } = this.database;
    const update = () =>
      this.database.execute(
        `UPDATE leases SET owner = ?, until = ${LATER[dialect]}
         WHERE name = ? AND (owner = ? OR until < ${NOW[dialect]})`,
        [this.owner, seconds, name, this.owner],
      );
    if ((await update()) > 0) return true;
    if (await this.find(name)) return false;
    // Several may find nothing at once. The primary key admits one of them.
    await insertRows(this.database, LeaseEntity, [{ name, owner: NO_OWNER, until: NEVER }]).catch(
      () => undefined,
    );
    return (await update()) > 0;
  }

  /** Moves the lease on. In a transaction no other instance can take it before the end. @returns false when it is lost. */
  async keep(name: string, seconds: number, sql: Sql = this.database): Promise<boolean> {
    const update = `UPDATE leases SET until = ${LATER[sql.dialect]} WHERE name = ? AND owner = ?`;
    return (await sql.execute(update, [seconds, name, this.owner])) > 0;
  }

  async give(name: string): Promise<void> {
    const update = 'UPDATE leases SET owner = ?, until = ? WHERE name = ? AND owner = ?';
    await this.database.execute(update, [NO_OWNER, NEVER, name, this.owner]);
  }

  /** Returns true if an instance holds the lease: one that works, or one that died before it expired. */
  async isHeld(name: string): Promise<boolean> {
    return (await this.find(name))?.held === 1;
  }

  /** Returns the moment that was last noted (`note`), or undefined. */
  async lastNoted(name: string): Promise<DbTime | undefined> {
    return (await this.find(name))?.until;
  }

  /** Notes a moment for all instances. */
  async note(name: string, time: DbTime): Promise<void> {
    await this.take(name, 0);
    const update = 'UPDATE leases SET owner = ?, until = ? WHERE name = ?';
    await this.database.execute(update, [this.owner, time, name]);
  }

  private find(name: string): Promise<{ until: string; held: number } | undefined> {
    const held = `until >= ${NOW[this.database.dialect]}`;
    return this.database.first(`SELECT until, ${held} AS held FROM leases WHERE name = ?`, [name]);
  }
}
