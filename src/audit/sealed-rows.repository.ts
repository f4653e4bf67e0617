import { Inject, Injectable } from '@nestjs/common';
import { setImmediate } from 'node:timers/promises';
import { DATABASE, type Database } from '../platform/database/engine/database.js';
import type { SealedRow } from './seal.js';
import {
  atLeastText,
  atMostText,
  hexOf,
  isAsRead,
  noTexts,
  storedForm,
  textOfHex,
  valuesOf,
} from './stored-form.js';

const COLUMNS = [
  'id',
  'time',
  'actor_kind',
  'actor_id',
  'action',
  'target_kind',
  'target_id',
  'changes',
  'request_id',
  'ip',
] as const;
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

  /**
   * Rows of a range of ids in their order; without an end all that there are. It goes on behind the id that is stored, since
   * behind the one that was read it might find the same row for ever.
   */
  async *rows(from: string | undefined, until: string | undefined): AsyncGenerator<ReadRow> {
    const { dialect } = this.database;
    const params = (value: string | undefined) => (value === undefined ? [] : [value]);
    const upper = until === undefined ? atMostText(dialect, 'id') : 'id < ?';
    let lower = from === undefined ? atLeastText(dialect, 'id') : 'id >= ?';
    for (let begin = from; ;) {
      const rows: Found[] = await this.database.aside(
        `SELECT ${dialect === 'sqlite' ? '' : `${COLUMNS.join(', ')}, `}HEX(id) AS at, ${storedForm(dialect, COLUMNS)} AS stored
         FROM audit_events WHERE ${lower} AND ${upper} ORDER BY id LIMIT ?`,
        [...params(begin), ...params(until), ROWS],
      );
      for (const { at, stored, ...found } of rows) {
        const values = stored === null ? COLUMNS.map((name) => found[name]) : valuesOf(stored);
        const row = rowOf(values);
        yield { row, hasId: at === hexOf(row.id), isAsRead: isAsRead(stored, values) };
      }
      const end = rows.at(-1);
      if (rows.length < ROWS || !end) return;
      lower = `id > ${textOfHex[dialect]}`;
      begin = end.at;
      await setImmediate(); // where statements do not wait, others get their turn
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

/** In the order of `COLUMNS`. */
function rowOf([id, time, actor_kind, actor_id, action, ...rest]: readonly (
  string | null | undefined
)[]): SealedRow {
  const [target_kind, target_id, changes, request_id, ip] = rest.map((value) => value ?? '');
  return {
    id: id ?? '',
    time: time ?? '',
    actor_kind: actor_kind ?? '',
    actor_id: actor_id ?? null,
    action: action ?? '',
    target_kind: target_kind ?? '',
    target_id: target_id ?? '',
    changes: changes ?? '',
    request_id: request_id ?? '',
    ip: ip ?? '',
  };
}
