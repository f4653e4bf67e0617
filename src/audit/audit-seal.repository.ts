import { Inject, Injectable } from '@nestjs/common';
import { setImmediate } from 'node:timers/promises';
import { insertRows } from '../database/engine/bulk.js';
import { DATABASE, type Database } from '../database/engine/database.js';
import type { Sql } from '../database/engine/sql.js';
import type { AuditEventEntity } from './audit.entity.js';
import { AuditLateEventEntity, AuditSealEntity } from './audit-seal.entity.js';

const ROW = 'id, time, actor_kind, actor_id, action, target_kind, target_id, changes, request_id, ip';
const ROW_OF_E = ROW.split(', ')
  .map((name) => `e.${name}`)
  .join(', ');
const SEAL = 'number, sealed, until_id, row_count, rows_hash, late_count, late_hash, purged, key_id, hash';
/** Rows that one statement reads: few enough that the thread does other things in between. */
const ROWS = 200;
/** Ids that one statement reads or counts. */
const IDS = 500;
const MEMBERS = 100;

export type KnownSeal = Omit<AuditSealEntity, 'members'>;

/** Hand-written SQL: everything is read in parts, in the order of a key, so that memory and statements have a bound. */
@Injectable()
export class AuditSealRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  async last(): Promise<KnownSeal | undefined> {
    return this.database.first(
      `SELECT ${SEAL} FROM audit_seals WHERE number = (SELECT MAX(number) FROM audit_seals)`,
    );
  }

  async find(number: number): Promise<KnownSeal | undefined> {
    return this.database.first(`SELECT ${SEAL} FROM audit_seals WHERE number = ?`, [number]);
  }

  /** The seals behind a number, oldest first. */
  async *seals(behind: number): AsyncGenerator<KnownSeal> {
    for (let last = behind; ;) {
      const seals: KnownSeal[] = await this.database.query(
        `SELECT ${SEAL} FROM audit_seals WHERE number > ? ORDER BY number LIMIT ?`,
        [last, ROWS],
      );
      yield* seals;
      const end = seals.at(-1);
      if (!end) return;
      last = end.number;
    }
  }

  /** The newest seal whose rows all are of before an id. */
  async lastUntil(id: string): Promise<number | undefined> {
    const sql = 'SELECT number FROM audit_seals WHERE until_id <= ? ORDER BY until_id DESC LIMIT 1';
    return (await this.database.first<{ number: number }>(sql, [id]))?.number;
  }

  /** The ids of at most `limit` rows from `from` on. */
  async idsFrom(from: string, limit: number): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(
      'SELECT id FROM audit_events WHERE id >= ? ORDER BY id LIMIT ?',
      [from, limit],
    );
    return rows.map(({ id }) => id);
  }

  /** All ids of a range, in their order. */
  async *ids(from: string, until: string): AsyncGenerator<string> {
    for (let behind: string | undefined; ;) {
      const ids: { id: string }[] = await this.database.aside(
        `SELECT id FROM audit_events WHERE id ${behind === undefined ? '>=' : '>'} ? AND id < ? ORDER BY id LIMIT ?`,
        [behind ?? from, until, IDS],
      );
      for (const { id } of ids) yield id;
      behind = ids.at(-1)?.id;
      if (behind === undefined) return;
      await setImmediate(); // where statements do not wait, others get their turn
    }
  }

  /** All rows of a range, in the order of their ids. */
  async *rows(from: string, until: string): AsyncGenerator<AuditEventEntity> {
    for (let behind: string | undefined; ;) {
      const rows: AuditEventEntity[] = await this.database.aside(
        `SELECT ${ROW} FROM audit_events WHERE id ${behind === undefined ? '>=' : '>'} ? AND id < ? ORDER BY id LIMIT ?`,
        [behind ?? from, until, ROWS],
      );
      yield* rows;
      behind = rows.at(-1)?.id;
      if (behind === undefined) return;
      await setImmediate();
    }
  }

  /** The number of rows in a range. */
  async count(from: string, until: string): Promise<number> {
    let count = 0;
    for (let next = from; ;) {
      const part = await this.database.first<{ count: number; last: string | null }>(
        `SELECT COUNT(*) AS count, MAX(id) AS last FROM
         (SELECT id FROM audit_events WHERE id ${count === 0 ? '>=' : '>'} ? AND id < ? ORDER BY id LIMIT ?) AS part`,
        [next, until, IDS],
      );
      if (!part?.last) return count;
      count += part.count;
      next = part.last;
    }
  }

  /** The ids in a range that later seals cover, in their order. */
  async *lateIn(from: string, until: string): AsyncGenerator<AuditLateEventEntity> {
    for (let behind: string | undefined; ;) {
      const rows: AuditLateEventEntity[] = await this.database.query(
        `SELECT id, seal FROM audit_late_events WHERE id ${behind === undefined ? '>=' : '>'} ? AND id < ? ORDER BY id LIMIT ?`,
        [behind ?? from, until, IDS],
      );
      yield* rows;
      behind = rows.at(-1)?.id;
      if (behind === undefined) return;
    }
  }

  /** The late rows of a seal, in the order of their ids; without its row where that is not there. */
  async *lateOf(seal: number): AsyncGenerator<{ late_id: string; row: AuditEventEntity | undefined }> {
    for (let behind = ''; ;) {
      const rows: (Omit<AuditEventEntity, 'id'> & { late_id: string; id: string | null })[] =
        await this.database.query(
          `SELECT late.id AS late_id, ${ROW_OF_E} FROM audit_late_events AS late
         LEFT JOIN audit_events AS e ON e.id = late.id
         WHERE late.seal = ? AND late.id > ? ORDER BY late.id LIMIT ?`,
          [seal, behind, ROWS],
        );
      for (const { late_id, id, ...row } of rows)
        yield { late_id, row: id === null ? undefined : { id, ...row } };
      const end = rows.at(-1);
      if (!end) return;
      behind = end.late_id;
    }
  }

  async membersOf(number: number): Promise<string | null> {
    const sql = 'SELECT members FROM audit_seals WHERE number = ?';
    return (await this.database.first<{ members: string | null }>(sql, [number]))?.members ?? null;
  }

  /** @throws DatabaseFault `duplicate` when another instance has made the seal of this number. */
  async insert(tx: Sql, seal: AuditSealEntity, late: readonly string[]): Promise<void> {
    await insertRows(tx, AuditSealEntity, [seal]);
    await insertRows(
      tx,
      AuditLateEventEntity,
      late.map((id) => ({ id, seal: seal.number })),
    );
  }

  /** Forgets the members of the hundred seals before a number. */
  async forgetMembers(before: number): Promise<void> {
    await this.database.execute(
      'UPDATE audit_seals SET members = NULL WHERE number >= ? AND number < ? AND members IS NOT NULL',
      [before - MEMBERS, before],
    );
  }

  /** Forgets the ids of late rows of a seal whose rows are deleted, and of those before it. */
  async forgetLate(until: string): Promise<void> {
    await this.database.execute('DELETE FROM audit_late_events WHERE id < ?', [until]);
  }
}
