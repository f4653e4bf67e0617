import { Inject, Injectable } from '@nestjs/common';
import { DATABASE, type Database } from '../platform/database/engine/database.js';
import { type Clause, type Sql, deleteRows, insertRows } from '../platform/database/engine/sql.js';
import {
  AuditCountEntity,
  type AuditEventEntity,
  AuditLateEventEntity,
  AuditSealEntity,
} from './audit.entity.js';
import { ROW_COLUMNS, SEAL_FACTS } from './seal.js';
import { after, isAsRead, lowerBound, noTexts, readByKey, storedForm, upperBound } from './stored-form.js';

const COLUMNS = ['number', ...SEAL_FACTS, 'hash'] as const;
const SEAL = COLUMNS.join(', ');
const ROWS = 200;
const MEMBERS = 100;
/** Less than the number of every seal, also of one that someone inserted. */
const BEFORE_ALL_NUMBERS = -(2 ** 53);

export type KnownSeal = Omit<AuditSealEntity, 'members'>;

/** A seal, and whether it is stored as it was read. */
export interface ReadSeal {
  seal: KnownSeal;
  isAsRead: boolean;
}

const ROW_OF_E = ROW_COLUMNS.map((name) => `e.${name}`).join(', ');
const ENTRY = ['late.id', 'late.seal', 'late.row_hash'];
const ENTRIES = 200;
const IDS = 500;
/** Entries of no seal, of which one is too many. */
const UNKNOWN = 20;

/** An entry for a late row, with its row where that is there. */
export interface LateEvent {
  entry: AuditLateEventEntity;
  /** Whether the entry is stored as it was read. */
  isAsRead: boolean;
  row: AuditEventEntity | undefined;
}

interface Found extends Omit<AuditEventEntity, 'id'>, Omit<AuditLateEventEntity, 'id'> {
  id: string | null;
  late_id: string;
  at: string;
  stored: string | null;
}

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
  async *seals(behind = BEFORE_ALL_NUMBERS): AsyncGenerator<ReadSeal> {
    for (let last = behind; ;) {
      const found: (KnownSeal & { stored: string | null })[] = await this.database.query(
        `SELECT ${SEAL}, ${storedForm(this.database.dialect, COLUMNS)} AS stored
         FROM audit_seals WHERE number > ? ORDER BY number LIMIT ?`,
        [last, ROWS],
      );
      for (const { stored, ...seal } of found) {
        const values = COLUMNS.map((name) => seal[name]);
        yield { seal, isAsRead: isAsRead(stored, values) };
      }
      const end = found.at(-1);
      if (!end) return;
      last = end.number;
    }
  }

  /** Seals up to a number, newest first. */
  async upTo(number: number, limit: number): Promise<KnownSeal[]> {
    const sql = `SELECT ${SEAL} FROM audit_seals WHERE number <= ? ORDER BY number DESC LIMIT ?`;
    return this.database.query(sql, [number, limit]);
  }

  /** The newest seal whose rows all are of before an id. */
  async lastUntil(id: string): Promise<number | undefined> {
    const sql =
      'SELECT number FROM audit_seals WHERE until_id <= ? ORDER BY until_id DESC, number DESC LIMIT 1';
    return (await this.database.first<{ number: number }>(sql, [id]))?.number;
  }

  /** The members of a seal. @returns undefined where they are not stored as they were read. */
  async membersOf(number: number): Promise<string | null | undefined> {
    const found = await this.database.first<{ members: string | null; stored: string | null }>(
      `SELECT members, ${storedForm(this.database.dialect, ['members'])} AS stored FROM audit_seals WHERE number = ?`,
      [number],
    );
    if (!found) return null;
    return isAsRead(found.stored, [found.members]) ? found.members : undefined;
  }

  /** @throws DatabaseFault `duplicate` when another instance has made the seal of this number. */
  async insert(
    tx: Sql,
    seal: AuditSealEntity,
    late: readonly AuditLateEventEntity[],
    counts: readonly AuditCountEntity[],
  ): Promise<void> {
    await insertRows(tx, AuditSealEntity, [seal]);
    await insertRows(tx, AuditLateEventEntity, late);
    // Counts of seals that somebody has removed.
    await tx.execute('DELETE FROM audit_counts WHERE seal >= ?', [seal.number]);
    await insertRows(tx, AuditCountEntity, counts);
  }

  /** Forgets the members of the seals up to a number, a hundred at once, the oldest first. */
  async forgetMembers(until: number): Promise<void> {
    const named = 'number > ? AND number <= ? AND members IS NOT NULL';
    let from = until;
    while (
      from > 0 &&
      (await this.database.first(`SELECT number FROM audit_seals WHERE ${named} LIMIT 1`, [
        from - MEMBERS,
        from,
      ]))
    ) {
      from -= MEMBERS;
    }
    for (; from < until; from += MEMBERS) {
      await this.database.execute(`UPDATE audit_seals SET members = NULL WHERE ${named}`, [
        from,
        Math.min(from + MEMBERS, until),
      ]);
    }
  }

  /** Forgets the late rows of the seals up to a number, as far as the rows themselves are deleted: those of before `id`. */
  async forgetLate(number: number, id: string): Promise<void> {
    for (;;) {
      const rows = await this.database.query<{ id: string }>(
        'SELECT id FROM audit_late_events WHERE seal <= ? AND id < ? LIMIT ?',
        [number, id, ROWS],
      );
      const ids = rows.map((row) => row.id);
      if (ids.length === 0 || (await deleteRows(this.database, AuditLateEventEntity, 'id', ids)) === 0)
        return;
    }
  }

  /** The ids of a range that have an entry as a late row. */
  async lateIn(from: string | undefined, until: string | undefined): Promise<Set<string>> {
    const { dialect } = this.database;
    const ids = new Set<string>();
    const upper = upperBound(dialect, 'id', until);
    const read = ({ sql, params }: Clause): Promise<{ id: string; at: string }[]> =>
      this.database.query(
        `SELECT id, HEX(id) AS at FROM audit_late_events WHERE ${sql} AND ${upper.sql} ORDER BY id LIMIT ?`,
        [...params, ...upper.params, IDS],
      );
    for await (const rows of readByKey(dialect, 'id', lowerBound(dialect, 'id', from), IDS, read))
      for (const { id } of rows) ids.add(id);
    return ids;
  }

  /** The late rows that a seal covers one by one, in the order of their ids. */
  async *lateOf(seal: number): AsyncGenerator<LateEvent> {
    const { dialect } = this.database;
    const upper = upperBound(dialect, 'late.id');
    const read = ({ sql, params }: Clause): Promise<Found[]> =>
      this.database.query(
        `SELECT late.id AS late_id, late.seal, late.row_hash, HEX(late.id) AS at, ${storedForm(dialect, ENTRY)} AS stored, ${ROW_OF_E}
         FROM audit_late_events AS late LEFT JOIN audit_events AS e ON e.id = late.id
         WHERE late.seal = ? AND ${sql} AND ${upper.sql} ORDER BY late.id LIMIT ?`,
        [seal, ...params, ENTRIES],
      );
    for await (const rows of readByKey(dialect, 'late.id', after(dialect, 'late.id', ''), ENTRIES, read))
      for (const { late_id, seal: number, row_hash, at: _, stored, id, ...row } of rows)
        yield {
          entry: { id: late_id, seal: number, row_hash },
          isAsRead: isAsRead(stored, [late_id, number, row_hash]),
          row: id === null ? undefined : { id, ...row },
        };
  }

  /** Ids of entries for late rows whose seal is not there, or that are no text: some of them. */
  async unknownLate(): Promise<string[]> {
    const { dialect } = this.database;
    const found = await this.database.aside<{ id: string }>(
      `SELECT CASE WHEN ${noTexts(dialect, 'id')} THEN HEX(id) ELSE id END AS id FROM audit_late_events
       WHERE ${noTexts(dialect, 'id')} OR NOT EXISTS (SELECT 1 FROM audit_seals WHERE number = seal) LIMIT ${UNKNOWN}`,
    );
    return found.map(({ id }) => id);
  }
}
