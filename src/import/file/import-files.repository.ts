import { Inject, Injectable } from '@nestjs/common';
import { type Sql, forUpdate, insertRows } from '../../platform/database/engine/sql.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import { ImportFilePartEntity } from '../runs/import.entity.js';

/** Bytes of one part. */
export const PART_BYTES = 512 * 1024;
const PARTS_AT_ONCE = 8;

/**
 * Uploaded files, in parts. A part without a run belongs to an upload that is in progress or was interrupted.
 * Hand-written SQL: locks and conditions decide which parts are deleted (ADR 0013).
 */
@Injectable()
export class ImportFilesRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  async append(runId: string, part: number, bytes: Buffer): Promise<void> {
    await insertRows(this.database, ImportFilePartEntity, [
      { run_id: runId, part, bytes: bytes.toString('base64') },
    ]);
  }

  /** The bytes of a file, a part at a time. */
  async *read(runId: string): AsyncGenerator<Uint8Array> {
    for (let part = 0; ; part++) {
      const row = await this.database.first<ImportFilePartEntity>(
        'SELECT bytes FROM import_file_parts WHERE run_id = ? AND part = ?',
        [runId, part],
      );
      if (!row) return;
      yield Buffer.from(row.bytes, 'base64');
    }
  }

  /** Some parts at a time: SQLite takes long to free the pages of a large file, and others wait to write. */
  async delete(runId: string): Promise<void> {
    const last = await this.database.first<{ part: number | null }>(
      'SELECT MAX(part) AS part FROM import_file_parts WHERE run_id = ?',
      [runId],
    );
    for (let part = last?.part ?? -1; part >= 0; part -= PARTS_AT_ONCE) {
      await this.database.execute('DELETE FROM import_file_parts WHERE run_id = ? AND part > ?', [
        runId,
        part - PARTS_AT_ONCE,
      ]);
    }
  }

  /** The number of parts, which cannot be deleted by others until the transaction ends. */
  async lock(tx: Sql, runId: string): Promise<number> {
    const sql = `SELECT part FROM import_file_parts WHERE run_id = ?${forUpdate(tx)}`;
    return (await tx.query(sql, [runId])).length;
  }

  /** Deletes the parts unless a run still needs them. */
  async deleteUnneeded(tx: Sql, runId: string): Promise<void> {
    if ((await this.lock(tx, runId)) === 0) return;
    // After the lock: the transaction that makes a run of the parts holds them until the run is visible.
    const run = await tx.first('SELECT id FROM import_runs WHERE id = ? AND finished IS NULL', [runId]);
    if (run) return;
    await tx.execute('DELETE FROM import_file_parts WHERE run_id = ?', [runId]);
  }

  /**
   * Returns the ids of files that are no longer needed: of finished runs whose service was killed before it deleted them, and
   * of uploads before `before` that never became a run. The lower bound lets SQLite read the index, without the bytes of files.
   */
  async orphans(before: string): Promise<string[]> {
    const rows = await this.database.query<{ run_id: string }>(
      `SELECT DISTINCT run_id FROM import_file_parts
       WHERE run_id > '' AND run_id NOT IN (SELECT id FROM import_runs WHERE finished IS NULL)
       AND (run_id < ? OR run_id IN (SELECT id FROM import_runs))`,
      [before],
    );
    return rows.map(({ run_id }) => run_id);
  }
}
