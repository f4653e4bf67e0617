import { Inject, Injectable } from '@nestjs/common';
import { DATABASE, type Database } from '../platform/database/engine/database.js';
import type { Clause } from '../platform/database/engine/sql.js';
import { ROW_COLUMNS, type SealedRow } from './seal.js';
import {
  hexOf,
  isAsRead,
  lowerBound,
  noTexts,
  readByKey,
  storedForm,
  upperBound,
  valuesOf,
} from './stored-form.js';

/** Rows that one statement reads: few enough that the thread does other things in between. */
const ROWS = 100;
/** Ids that are no text, of which one is too many. */
const ODD_IDS = 20;

/** A row as it was read. */
export interface ReadRow {
  row: SealedRow;
  /** Whether the id is stored as it was read. */
  hasId: boolean;
  /** Whether all of it is. */
  isAsRead: boolean;
}

type Found = Partial<SealedRow> & { at: string; stored: string | null };

/** All rows of the audit, whoever wrote them, and whatever they have as their id. */
@Injectable()
export class SealedRowsRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /** Rows of a range of ids in their order; without an end all that there are. */
  async *rows(from: string | undefined, until: string | undefined): AsyncGenerator<ReadRow> {
    const { dialect } = this.database;
    const upper = upperBound(dialect, 'id', until);
    const columns = dialect === 'sqlite' ? '' : `${ROW_COLUMNS.join(', ')}, `;
    const read = ({ sql, params }: Clause): Promise<Found[]> =>
      this.database.aside(
        `SELECT ${columns}HEX(id) AS at, ${storedForm(dialect, ROW_COLUMNS)} AS stored
         FROM audit_events WHERE ${sql} AND ${upper.sql} ORDER BY id LIMIT ?`,
        [...params, ...upper.params, ROWS],
      );
    for await (const rows of readByKey(dialect, 'id', lowerBound(dialect, 'id', from), ROWS, read))
      for (const { at, stored, ...found } of rows) {
        const values = stored === null ? ROW_COLUMNS.map((name) => found[name]) : valuesOf(stored);
        const row = rowOf(values);
        yield { row, hasId: at === hexOf(row.id), isAsRead: isAsRead(stored, values) };
      }
  }

  /** Ids that are no text, in hexadecimal digits: some of them. */
  async oddIds(): Promise<string[]> {
    const rows = await this.database.aside<{ at: string }>(
      `SELECT HEX(id) AS at FROM audit_events WHERE ${noTexts(this.database.dialect, 'id')} LIMIT ${ODD_IDS}`,
    );
    return rows.map(({ at }) => at);
  }
}

/** @param values in the order of `ROW_COLUMNS`. */
const rowOf = (values: readonly (string | null | undefined)[]): SealedRow =>
  Object.fromEntries(
    ROW_COLUMNS.map((name, at) => [name, values[at] ?? (name === 'actor_id' ? null : '')]),
  ) as SealedRow;
