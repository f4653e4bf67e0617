import { Inject, Injectable } from '@nestjs/common';
import { DATABASE, type Database } from '../platform/database/engine/database.js';
import type { Clause } from '../platform/database/engine/sql.js';
import { MAX_ID } from './audit-event.js';
import { ROW_COLUMNS, type SealedRow } from './seal.js';
import {
  hexOf,
  isIntact,
  buildMinCondition,
  buildNonTextCondition,
  readByKey,
  buildStoredFormSql,
  buildMaxCondition,
  parseStoredForm,
} from './stored-form.js';

/** Number of rows per statement. It is small, so that other requests can run between two statements. */
const ROWS = 100;
const MAX_INVALID = 20;

export interface ReadRow {
  row: SealedRow;
  /** False if decoding changes the stored bytes of the id. */
  hasId: boolean;
  /** False if decoding changes the stored bytes of a column. */
  isIntact: boolean;
}

type RawRow = Partial<SealedRow> & { at: string; stored: string | null };

/** Reads all events of the audit, including manipulated ones with invalid ids. */
@Injectable()
export class SealedRowsRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  async *readRows(from: string | undefined, until: string | undefined): AsyncGenerator<ReadRow> {
    const { dialect } = this.database;
    const upper = buildMaxCondition(dialect, 'id', until);
    const columns = dialect === 'sqlite' ? '' : `${ROW_COLUMNS.join(', ')}, `;
    const read = ({ sql, params }: Clause): Promise<RawRow[]> =>
      this.database.scan(
        `SELECT ${columns}HEX(id) AS at, ${buildStoredFormSql(dialect, ROW_COLUMNS)} AS stored
         FROM audit_events WHERE ${sql} AND ${upper.sql} ORDER BY id LIMIT ?`,
        [...params, ...upper.params, ROWS],
      );
    for await (const rows of readByKey(dialect, 'id', ROWS, read, buildMinCondition(dialect, 'id', from)))
      for (const { at, stored, ...found } of rows) {
        const values = stored === null ? ROW_COLUMNS.map((name) => found[name]) : parseStoredForm(stored);
        const row = toRow(values);
        yield { row, hasId: at === hexOf(row.id), isIntact: isIntact(stored, values) };
      }
  }

  /** Returns true if an event has an id from `from` (inclusive) to `until` (exclusive). */
  async hasRows(from: string, until = MAX_ID): Promise<boolean> {
    const sql = 'SELECT 1 AS found FROM audit_events WHERE id >= ? AND id < ? LIMIT 1';
    return (await this.database.queryOne(sql, [from, until])) !== undefined;
  }

  /** Finds event ids that are not stored as text. Returns up to `MAX_INVALID` of them, in hexadecimal. */
  async findInvalidIds(): Promise<string[]> {
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
