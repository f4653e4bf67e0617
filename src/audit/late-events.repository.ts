import { Inject, Injectable } from '@nestjs/common';
import { DATABASE, type Database } from '../platform/database/engine/database.js';
import type { AuditEventEntity } from './audit.entity.js';
import type { AuditLateEventEntity } from './audit-seal.entity.js';
import { atLeastText, atMostText, isAsRead, noTexts, storedForm, textOfHex } from './stored-form.js';

const ROW = ['id', 'time', 'actor_kind', 'actor_id', 'action', 'target_kind', 'target_id'];
const ROW_OF_E = [...ROW, 'changes', 'request_id', 'ip'].map((name) => `e.${name}`).join(', ');
const ENTRY = ['late.id', 'late.seal', 'late.row_hash'];
const ENTRIES = 200;
const IDS = 500;
/** Entries of no seal, of which one is too many. */
const STRANGERS = 20;

/** An entry for a late row, with its row where that is there. */
export interface LateEvent {
  entry: AuditLateEventEntity;
  /** Whether the entry is stored as it was read. */
  isAsRead: boolean;
  row: AuditEventEntity | undefined;
}

interface Found extends Omit<AuditEventEntity, 'id'> {
  id: string | null;
  late_id: string;
  seal: number;
  row_hash: string;
  at: string;
  stored: string | null;
}

/** Rows that seals cover one by one. */
@Injectable()
export class LateEventsRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /** The ids of a range that have an entry. */
  async in(from: string | undefined, until: string | undefined): Promise<Set<string>> {
    const { dialect } = this.database;
    const ids = new Set<string>();
    const params = (value: string | undefined) => (value === undefined ? [] : [value]);
    const upper = until === undefined ? atMostText(dialect, 'id') : 'id < ?';
    let lower = from === undefined ? atLeastText(dialect, 'id') : 'id >= ?';
    for (let begin = from; ;) {
      const found: { id: string; at: string }[] = await this.database.query(
        `SELECT id, HEX(id) AS at FROM audit_late_events WHERE ${lower} AND ${upper} ORDER BY id LIMIT ?`,
        [...params(begin), ...params(until), IDS],
      );
      for (const { id } of found) ids.add(id);
      const end = found.at(-1);
      if (found.length < IDS || !end) return ids;
      lower = `id > ${textOfHex[dialect]}`;
      begin = end.at;
    }
  }

  /** The entries of a seal, in the order of their ids. */
  async *of(seal: number): AsyncGenerator<LateEvent> {
    const { dialect } = this.database;
    for (let at = ''; ;) {
      const found: Found[] = await this.database.query(
        `SELECT late.id AS late_id, late.seal, late.row_hash, HEX(late.id) AS at, ${storedForm(dialect, ENTRY)} AS stored, ${ROW_OF_E}
         FROM audit_late_events AS late LEFT JOIN audit_events AS e ON e.id = late.id
         WHERE late.seal = ? AND late.id > ${textOfHex[dialect]} AND ${atMostText(dialect, 'late.id')} ORDER BY late.id LIMIT ?`,
        [seal, at, ENTRIES],
      );
      for (const { late_id, seal: number, row_hash, at: _, stored, id, ...row } of found) {
        yield {
          entry: { id: late_id, seal: number, row_hash },
          isAsRead: isAsRead(stored, [late_id, number, row_hash]),
          row: id === null ? undefined : { id, ...row },
        };
      }
      const end = found.at(-1);
      if (found.length < ENTRIES || !end) return;
      at = end.at;
    }
  }

  /** Ids of entries whose seal is not there, or that are no text: some of them. */
  async strangers(): Promise<string[]> {
    const { dialect } = this.database;
    const found = await this.database.aside<{ id: string }>(
      `SELECT CASE WHEN ${noTexts(dialect, 'id')} THEN HEX(id) ELSE id END AS id FROM audit_late_events
       WHERE ${noTexts(dialect, 'id')} OR NOT EXISTS (SELECT 1 FROM audit_seals WHERE number = seal) LIMIT ${STRANGERS}`,
    );
    return found.map(({ id }) => id);
  }
}
