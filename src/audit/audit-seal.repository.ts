import { Inject, Injectable } from '@nestjs/common';
import { type Sql, deleteRows, insertRows } from '../platform/database/engine/sql.js';
import { DATABASE, type Database } from '../platform/database/engine/database.js';
import { AuditCountEntity } from './audit-count.entity.js';
import { AuditSealEntity, AuditLateEventEntity } from './audit-seal.entity.js';
import { isAsRead, storedForm } from './stored-form.js';

const COLUMNS = [
  'number',
  'sealed',
  'until_id',
  'row_count',
  'rows_hash',
  'late_count',
  'late_hash',
  'purged',
  'key_id',
  'hash',
  'members_hash',
] as const;
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
}
