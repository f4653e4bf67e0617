import { Inject, Injectable } from '@nestjs/common';
import { type Sql, lockClauseOf, insertRows } from '../../platform/database/engine/sql.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import { ImportFilePartEntity } from '../runs/import.entity.js';

export const PART_BYTES = 512 * 1024;
const PARTS_PER_DELETE = 8;

/**
 * Repository of uploaded files, each stored as several rows (parts). Parts without a run belong to an upload that is in
 * progress or was interrupted. Uses hand-written SQL, because locks and conditions decide which parts are deleted (ADR
 * 13).
 */
@Injectable()
export class ImportFilesRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  async append(runId: string, part: number, bytes: Buffer): Promise<void> {
    await insertRows(this.database, ImportFilePartEntity, [
      { run_id: runId, part, bytes: bytes.toString('base64') },
    ]);
  }

  async *read(runId: string): AsyncGenerator<Uint8Array> {
    const sql = 'SELECT bytes FROM import_file_parts WHERE run_id = ? AND part = ?';
    for (let part = 0; ; part++) {
      const row = await this.database.queryOne<ImportFilePartEntity>(sql, [runId, part]);
      if (!row) return;
      yield Buffer.from(row.bytes, 'base64');
    }
  }

  /** Deletes the first part of a file, which is usually the only part. */
  async deleteFirstPart(tx: Sql, runId: string): Promise<void> {
    await tx.execute('DELETE FROM import_file_parts WHERE run_id = ? AND part = 0', [runId]);
  }

  /** Deletes a file, a few parts at a time. On SQLite, freeing a large file at once would block other writers. */
  async delete(runId: string): Promise<void> {
    const sql = 'SELECT MAX(part) AS part FROM import_file_parts WHERE run_id = ?';
    const last = await this.database.queryOne<{ part: number | null }>(sql, [runId]);
    for (let part = last?.part ?? -1; part >= 0; part -= PARTS_PER_DELETE)
      await this.deleteAfter(this.database, runId, part - PARTS_PER_DELETE);
  }

  /**
   * Locks the last part of a file, which would be deleted first, until the transaction ends. Returns the number of
   * parts. Reads only one row, because SQLite reads all bytes of each row to find the end of a range.
   */
  async lockParts(tx: Sql, runId: string): Promise<number> {
    const sql = `SELECT part FROM import_file_parts WHERE run_id = ? ORDER BY part DESC LIMIT 1${lockClauseOf(tx)}`;
    return ((await tx.queryOne<{ part: number }>(sql, [runId]))?.part ?? -1) + 1;
  }

  /** Deletes the last parts of a file, unless a run needs them. Returns true if the file has more parts to delete. */
  async deleteUnused(tx: Sql, runId: string): Promise<boolean> {
    const parts = await this.lockParts(tx, runId);
    if (parts === 0) return false;
    // The last part is locked, so no concurrent transaction can create a run for this file after this query.
    const run = await tx.queryOne('SELECT id FROM import_runs WHERE id = ? AND finished IS NULL', [runId]);
    if (run) return false;
    await this.deleteAfter(tx, runId, parts - PARTS_PER_DELETE - 1);
    return parts > PARTS_PER_DELETE;
  }

  private async deleteAfter(sql: Sql, runId: string, part: number): Promise<void> {
    await sql.execute('DELETE FROM import_file_parts WHERE run_id = ? AND part > ?', [runId, part]);
  }

  /**
   * Finds the run ids of files that no run needs: files of finished runs, and files without a run whose id is lower
   * than `before`. With the condition `run_id > ''`, SQLite reads only the index, not the bytes of the files.
   */
  async findOrphans(before: string): Promise<string[]> {
    const rows = await this.database.query<{ run_id: string }>(
      `SELECT DISTINCT run_id FROM import_file_parts
       WHERE run_id > '' AND run_id NOT IN (SELECT id FROM import_runs WHERE finished IS NULL)
       AND (run_id < ? OR run_id IN (SELECT id FROM import_runs))`,
      [before],
    );
    return rows.map(({ run_id }) => run_id);
  }
}
