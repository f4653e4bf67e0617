import { Inject, Injectable } from '@nestjs/common';
import { insertRows } from '../engine/bulk.js';
import { DATABASE, type Database } from '../engine/database.js';
import type { Dialect, Sql } from '../engine/sql.js';
import { LeaseEntity } from './lease.entity.js';

/** The end and the owner of a lease that is free. */
const NEVER = '1970-01-01 00:00:00.000';
const NOBODY = '00000000-0000-0000-0000-000000000000';

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
 * Leases: one owner at a time among all instances, until a time that the owner extends while it lives. The condition of an
 * update decides who gets a lease (ADR 0013). On Galera two nodes may both find it free: the certification of the row
 * admits one update, and the other is run again and finds it taken (ADR 0015).
 */
@Injectable()
export class LeaseRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /** Takes a lease that is free, expired, or held by `owner`. @returns false while another owner holds it. */
  async take(name: string, owner: string, seconds: number): Promise<boolean> {
    const { dialect } = this.database;
    const take = () =>
      this.database.execute(
        `UPDATE leases SET owner = ?, until = ${LATER[dialect]}
         WHERE name = ? AND (owner = ? OR until < ${NOW[dialect]})`,
        [owner, seconds, name, owner],
      );
    if ((await take()) > 0) return true;
    if ((await this.until(name)) !== undefined) return false;
    // Several may find nothing at once; the primary key admits one of them.
    await insertRows(this.database, LeaseEntity, [{ name, owner: NOBODY, until: NEVER }]).catch(
      () => undefined,
    );
    return (await take()) > 0;
  }

  /** Extends the lease; inside a transaction no other owner can take it before the end. @returns false when it is lost. */
  async renew(name: string, owner: string, seconds: number, sql: Sql = this.database): Promise<boolean> {
    const renew = `UPDATE leases SET until = ${LATER[sql.dialect]} WHERE name = ? AND owner = ?`;
    return (await sql.execute(renew, [seconds, name, owner])) > 0;
  }

  /** Whether the lease has not ended. */
  async isHeld(name: string): Promise<boolean> {
    return (await this.find(name))?.held === 1;
  }

  /** Until when a lease was last held; undefined when it never was. */
  async until(name: string): Promise<string | undefined> {
    return (await this.find(name))?.until;
  }

  private find(name: string): Promise<{ until: string; held: number } | undefined> {
    const held = `until >= ${NOW[this.database.dialect]}`;
    return this.database.first(`SELECT until, ${held} AS held FROM leases WHERE name = ?`, [name]);
  }

  /** Sets the owner and the end of a lease, whoever holds it. */
  async put(name: string, owner: string, until: string): Promise<void> {
    await this.take(name, owner, 0);
    const params = [owner, until, name];
    await this.database.execute('UPDATE leases SET owner = ?, until = ? WHERE name = ?', params);
  }

  async give(name: string, owner: string): Promise<void> {
    const params = [NOBODY, NEVER, name, owner];
    await this.database.execute(
      'UPDATE leases SET owner = ?, until = ? WHERE name = ? AND owner = ?',
      params,
    );
  }
}
