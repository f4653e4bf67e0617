import { Inject, Injectable } from '@nestjs/common';
import { insertRows } from '../database/engine/bulk.js';
import { DATABASE, type Database } from '../database/engine/database.js';
import type { Sql } from '../database/engine/sql.js';
import { now, secondsFrom } from '../common/time.js';
import { LeaseEntity } from './lease.entity.js';

/** The end and the owner of a lease that is free. */
const NEVER = '1970-01-01 00:00:00.000';
const NOBODY = '00000000-0000-0000-0000-000000000000';

/**
 * Leases: one owner at a time among all instances, until a time that the owner extends while it lives.
 * Hand-written SQL: the condition of an update decides who gets a lease (ADR 0013).
 */
@Injectable()
export class LeaseRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /** Takes a lease that is free, expired, or held by `owner`. @returns false while another owner holds it. */
  async take(name: string, owner: string, seconds: number): Promise<boolean> {
    const time = now();
    const take = () =>
      this.database.execute(
        'UPDATE leases SET owner = ?, until = ? WHERE name = ? AND (owner = ? OR until < ?)',
        [owner, secondsFrom(time, seconds), name, owner, time],
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
    const params = [secondsFrom(now(), seconds), name, owner];
    return (await sql.execute('UPDATE leases SET until = ? WHERE name = ? AND owner = ?', params)) > 0;
  }

  /** Until when a lease was last held; undefined when it never was. */
  async until(name: string): Promise<string | undefined> {
    const row = await this.database.first<LeaseEntity>('SELECT until FROM leases WHERE name = ?', [name]);
    return row?.until;
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
