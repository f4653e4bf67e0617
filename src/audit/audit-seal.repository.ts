import { Inject, Injectable } from '@nestjs/common';
import { DATABASE, type Database } from '../platform/database/engine/database.js';
import { type Clause, type Sql, deleteRows, insertRows } from '../platform/database/engine/sql.js';
import { readPages } from '../platform/database/keyset-pages.js';
import {
  AuditCountEntity,
  type AuditEventEntity,
  AuditLateEventEntity,
  AuditSealEntity,
} from './audit.entity.js';
import { ROW_COLUMNS, SEAL_FACTS, type SealedRow } from './seal.js';
import {
  isIntact,
  buildMinCondition,
  buildNonTextCondition,
  readByKey,
  buildStoredFormSql,
  buildMaxCondition,
  hexOf,
  parseStoredForm,
} from './stored-form.js';
import { MAX_ID } from './audit-event.js';

const COLUMNS = ['number', ...SEAL_FACTS, 'hash'] as const;
const SEAL_COLUMNS = COLUMNS.join(', ');
const ROWS = 200;
const MEMBERS = 100;
/** Number that is less than any seal number in the database, even a manipulated one. */
const MIN_NUMBER = -(2 ** 53);

export type Seal = Omit<AuditSealEntity, 'members'>;

export interface ReadSeal {
  seal: Seal;
  /** False if the driver does not return the stored bytes unchanged. The service never writes such bytes. */
  isIntact: boolean;
}

const EVENT_COLUMNS = ROW_COLUMNS.map((name) => `e.${name}`).join(', ');
const ENTRY = ['late.id', 'late.seal', 'late.row_hash'];
const ENTRIES = 200;
const IDS = 500;
/** Number of events per statement. It is small, so that other requests can run between two statements. */
const EVENTS = 100;
/** Maximum number of invalid ids to report. */
const MAX_INVALID = 20;

/** Entry of `audit_late_events` with its audit event. `row` is undefined if the event is missing. */
export interface LateEvent {
  entry: AuditLateEventEntity;
  /** False if the driver does not return the stored bytes unchanged. The service never writes such bytes. */
  isIntact: boolean;
  row: AuditEventEntity | undefined;
}

interface LateEventRow extends Omit<AuditEventEntity, 'id'>, Omit<AuditLateEventEntity, 'id'> {
  id: string | null;
  late_id: string;
  at: string;
  stored: string | null;
}

export interface ReadRow {
  row: SealedRow;
  /** False if decoding changes the stored bytes of the id. */
  hasId: boolean;
  /** False if decoding changes the stored bytes of a column. */
  isIntact: boolean;
}

type RawRow = Partial<SealedRow> & { at: string; stored: string | null };

/** Stores and reads seals and the sealed events, page by page, to limit memory and the time of each statement. */
@Injectable()
export class AuditSealRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  async findLast(): Promise<Seal | undefined> {
    return this.database.queryOne(
      `SELECT ${SEAL_COLUMNS} FROM audit_seals WHERE number = (SELECT MAX(number) FROM audit_seals)`,
    );
  }

  async find(number: number): Promise<Seal | undefined> {
    return this.database.queryOne(`SELECT ${SEAL_COLUMNS} FROM audit_seals WHERE number = ?`, [number]);
  }

  async *readAll(afterNumber = MIN_NUMBER): AsyncGenerator<ReadSeal> {
    const sql = `SELECT ${SEAL_COLUMNS}, ${buildStoredFormSql(this.database.dialect, COLUMNS)} AS stored
      FROM audit_seals WHERE number > ? ORDER BY number LIMIT ?`;
    const read = (after: number) => this.database.query<Seal & { stored: string | null }>(sql, [after, ROWS]);
    for await (const found of readPages(afterNumber, ({ number }) => number, read))
      for (const { stored, ...seal } of found) {
        const values = COLUMNS.map((name) => seal[name]);
        yield { seal, isIntact: isIntact(stored, values) };
      }
  }

  /** Returns the number of the newest seal whose range ends at or before the event id `id`, if any. */
  async findLastNumberBefore(id: string): Promise<number | undefined> {
    const sql =
      'SELECT number FROM audit_seals WHERE until_id <= ? ORDER BY until_id DESC, number DESC LIMIT 1';
    return (await this.database.queryOne<{ number: number }>(sql, [id]))?.number;
  }

  /** Returns the members of a seal, null if they were deleted, or undefined if they were manipulated. */
  async findMemberText(number: number): Promise<string | null | undefined> {
    const found = await this.database.queryOne<{ members: string | null; stored: string | null }>(
      `SELECT members, ${buildStoredFormSql(this.database.dialect, ['members'])} AS stored FROM audit_seals WHERE number = ?`,
      [number],
    );
    if (!found) return null;
    return isIntact(found.stored, [found.members]) ? found.members : undefined;
  }

  /** @throws DatabaseError `duplicate` if another instance has already stored a seal with this number. */
  async insert(
    tx: Sql,
    seal: AuditSealEntity,
    late: readonly AuditLateEventEntity[],
    counts: readonly AuditCountEntity[],
  ): Promise<void> {
    await insertRows(tx, AuditSealEntity, [seal]);
    await insertRows(tx, AuditLateEventEntity, late);
    // Counts of this seal or later seals exist only if these seals were deleted by tampering.
    await tx.execute('DELETE FROM audit_counts WHERE seal >= ?', [seal.number]);
    await insertRows(tx, AuditCountEntity, counts);
  }

  /** Deletes the members of the seal `until` and of all earlier seals. */
  async clearMembers(until: number): Promise<void> {
    const inRange = 'number > ? AND number <= ? AND members IS NOT NULL';
    const select = `SELECT number FROM audit_seals WHERE ${inRange} LIMIT 1`;
    const update = `UPDATE audit_seals SET members = NULL WHERE ${inRange}`;
    let from = until;
    while (from > 0 && (await this.database.queryOne(select, [from - MEMBERS, from]))) from -= MEMBERS;
    for (; from < until; from += MEMBERS)
      await this.database.execute(update, [from, Math.min(from + MEMBERS, until)]);
  }

  /** Deletes the entries of `audit_late_events` with a seal up to `number` and an event id less than `id`. */
  async deleteLateEntries(number: number, id: string): Promise<void> {
    const sql = 'SELECT id FROM audit_late_events WHERE seal <= ? AND id < ? LIMIT ?';
    for (;;) {
      const rows = await this.database.query<{ id: string }>(sql, [number, id, ROWS]);
      const ids = rows.map((row) => row.id);
      if ((await deleteRows(this.database, AuditLateEventEntity, 'id', ids)) === 0) return;
    }
  }

  /** Returns the ids in `audit_late_events` from `from` (inclusive) to `until` (exclusive). */
  async findLateIds(from: string | undefined, until: string | undefined): Promise<Set<string>> {
    const { dialect } = this.database;
    const ids = new Set<string>();
    const upper = buildMaxCondition(dialect, 'id', until);
    const read = ({ sql, params }: Clause): Promise<{ id: string; at: string }[]> =>
      this.database.query(
        `SELECT id, HEX(id) AS at FROM audit_late_events WHERE ${sql} AND ${upper.sql} ORDER BY id LIMIT ?`,
        [...params, ...upper.params, IDS],
      );
    for await (const rows of readByKey(dialect, 'id', IDS, read, buildMinCondition('id', from)))
      for (const { id } of rows) ids.add(id);
    return ids;
  }

  /** Yields the entries of `audit_late_events` for a seal with their audit events, ordered by id. */
  async *readLateEvents(seal: number): AsyncGenerator<LateEvent> {
    const { dialect } = this.database;
    const upper = buildMaxCondition(dialect, 'late.id');
    const read = ({ sql, params }: Clause): Promise<LateEventRow[]> =>
      this.database.query(
        `SELECT late.id AS late_id, late.seal, late.row_hash, HEX(late.id) AS at, ${buildStoredFormSql(dialect, ENTRY)} AS stored, ${EVENT_COLUMNS}
         FROM audit_late_events AS late LEFT JOIN audit_events AS e ON e.id = late.id
         WHERE late.seal = ? AND ${sql} AND ${upper.sql} ORDER BY late.id LIMIT ?`,
        [seal, ...params, ENTRIES],
      );
    for await (const rows of readByKey(dialect, 'late.id', ENTRIES, read))
      for (const { late_id, seal: number, row_hash, at: _, stored, id, ...row } of rows)
        yield {
          entry: { id: late_id, seal: number, row_hash },
          isIntact: isIntact(stored, [late_id, number, row_hash]),
          row: id === null ? undefined : { id, ...row },
        };
  }

  /**
   * Finds entries of `audit_late_events` whose id is not text or whose seal does not exist. Returns up to `MAX_INVALID`
   * of their ids.
   */
  async findUnknownLateIds(): Promise<string[]> {
    const { dialect } = this.database;
    const found = await this.database.scan<{ id: string }>(
      `SELECT CASE WHEN ${buildNonTextCondition(dialect, 'id')} THEN HEX(id) ELSE id END AS id FROM audit_late_events
       WHERE ${buildNonTextCondition(dialect, 'id')} OR NOT EXISTS (SELECT 1 FROM audit_seals WHERE number = seal) LIMIT ${MAX_INVALID}`,
    );
    return found.map(({ id }) => id);
  }

  /** Reads all events of the audit, including manipulated ones with invalid ids. */
  async *readEvents(from: string | undefined, until: string | undefined): AsyncGenerator<ReadRow> {
    const { dialect } = this.database;
    const upper = buildMaxCondition(dialect, 'id', until);
    const columns = dialect === 'sqlite' ? '' : `${ROW_COLUMNS.join(', ')}, `;
    const read = ({ sql, params }: Clause): Promise<RawRow[]> =>
      this.database.scan(
        `SELECT ${columns}HEX(id) AS at, ${buildStoredFormSql(dialect, ROW_COLUMNS)} AS stored
         FROM audit_events WHERE ${sql} AND ${upper.sql} ORDER BY id LIMIT ?`,
        [...params, ...upper.params, EVENTS],
      );
    for await (const rows of readByKey(dialect, 'id', EVENTS, read, buildMinCondition('id', from)))
      for (const { at, stored, ...found } of rows) {
        const values = stored === null ? ROW_COLUMNS.map((name) => found[name]) : parseStoredForm(stored);
        const row = toRow(values);
        yield { row, hasId: at === hexOf(row.id), isIntact: isIntact(stored, values) };
      }
  }

  /** Returns true if an event has an id from `from` (inclusive) to `until` (exclusive). */
  async hasEvents(from: string, until = MAX_ID): Promise<boolean> {
    const sql = 'SELECT 1 AS found FROM audit_events WHERE id >= ? AND id < ? LIMIT 1';
    return (await this.database.queryOne(sql, [from, until])) !== undefined;
  }

  /**
   * Returns the id of the first event before `until` that records the start of an import, if that import has events from
   * `until` to `end`.
   */
  async findFirstStart(until: string, end: string): Promise<string | undefined> {
    const sql = `SELECT MIN(started.id) AS first FROM audit_events AS started
      WHERE started.action = 'import.created' AND started.id < ? AND EXISTS (
        SELECT 1 FROM audit_events AS e WHERE e.actor_id = started.target_id AND e.id >= ? AND e.id < ?)`;
    return (
      (await this.database.queryOne<{ first: string | null }>(sql, [until, until, end]))?.first ?? undefined
    );
  }

  /** Finds event ids that are not stored as text. Returns up to `MAX_INVALID` of them, in hexadecimal. */
  async findInvalidEventIds(): Promise<string[]> {
    const found = await this.database.scan<{ at: string }>(
      `SELECT HEX(id) AS at FROM audit_events WHERE ${buildNonTextCondition(this.database.dialect, 'id')} LIMIT ${MAX_INVALID}`,
    );
    return found.map(({ at }) => at);
  }
}

const toRow = (values: readonly (string | null | undefined)[]): SealedRow =>
  Object.fromEntries(
    ROW_COLUMNS.map((name, at) => [name, values[at] ?? (name === 'actor_id' ? null : '')]),
  ) as SealedRow;
