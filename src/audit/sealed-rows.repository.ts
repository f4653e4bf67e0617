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

/** Number of rows per statement. Small enough for other work of the thread to run in between. */
const ROWS = 100;
/** Maximum number of invalid ids to report. */
const ODD_IDS = 20;

/** Event as the driver returned it. */
export interface ReadRow {
  row: SealedRow;
  /** True if the driver returned exactly the stored bytes of the id. */
  hasId: boolean;
  /** True if the driver returned exactly the stored bytes of all columns. */
  isAsRead: boolean;
}

type Found = Partial<SealedRow> & { at: string; stored: string | null };

/** Reads all events of the audit, including manipulated ones with invalid ids. */
@Injectable()
export class SealedRowsRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /** Yields the events in a range of ids, ordered by id. Without `until`, the range has no end. */
  async *rows(from: string | undefined, until: string | undefined): AsyncGenerator<ReadRow> {
    const { dialect } = this.database;
    const upper = upperBound(dialect, 'id', until);
    const columns = dialect === 'sqlite' ? '' : `${ROW_COLUMNS.join(', ')}, `;
    const read = ({ sql, params }: Clause): Promise<Found[]> =>
      this.database.scan(
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

  /** Returns event ids that are not text, in hexadecimal. The result is limited. */
  async oddIds(): Promise<string[]> {
    const found = await this.database.scan<{ at: string }>(
      `SELECT HEX(id) AS at FROM audit_events WHERE ${noTexts(this.database.dialect, 'id')} LIMIT ${ODD_IDS}`,
    );
    return found.map(({ at }) => at);
  }
}

/** Builds an event from values in the order of `ROW_COLUMNS`. */
const rowOf = (values: readonly (string | null | undefined)[]): SealedRow =>
  Object.fromEntries(
    ROW_COLUMNS.map((name, at) => [name, values[at] ?? (name === 'actor_id' ? null : '')]),
  ) as SealedRow;
