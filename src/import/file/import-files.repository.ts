import { Inject, Injectable } from '@nestjs/common';
import { insertRows } from '../../database/engine/bulk.js';
import { DATABASE, type Database } from '../../database/engine/database.js';
import { type Sql, forUpdate } from '../../database/engine/sql.js';
import { ImportFilePartEntity } from '../runs/import.entity.js';

/** Bytes of one part. */
export const PART_BYTES = 512 * 1024;

/** Uploaded files, in parts. A part without a run belongs to an upload that is under way, or broke off. */
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
      const [row] = await this.database.query<{ bytes: string }>(
        'SELECT bytes FROM import_file_parts WHERE run_id = ? AND part = ?',
        [runId, part],
      );
      if (!row) return;
      yield Buffer.from(row.bytes, 'base64');
    }
  }

  async delete(runId: string): Promise<void> {
    await this.database.execute('DELETE FROM import_file_parts WHERE run_id = ?', [runId]);
  }

  /** The number of parts, which nobody can take away until the transaction ends. */
  async lock(tx: Sql, runId: string): Promise<number> {
    const parts = await tx.query(`SELECT part FROM import_file_parts WHERE run_id = ?${forUpdate(tx)}`, [
      runId,
    ]);
    return parts.length;
  }

  /** Takes the parts away unless a run needs them still. */
  async deleteUnneeded(tx: Sql, runId: string): Promise<void> {
    if ((await this.lock(tx, runId)) === 0) return;
    // Behind the lock: whoever makes a run of the parts holds them until it can be seen.
    const run = await tx.first('SELECT id FROM import_runs WHERE id = ? AND finished IS NULL', [runId]);
    if (run) return;
    await tx.execute('DELETE FROM import_file_parts WHERE run_id = ?', [runId]);
  }

  /** Files that nobody needs: of runs that are over, and of uploads that broke off before they were a run. */
  async orphans(before: string): Promise<string[]> {
    const rows = await this.database.query<{ run_id: string }>(
      `SELECT DISTINCT run_id FROM import_file_parts
       WHERE run_id < ? AND run_id NOT IN (SELECT id FROM import_runs WHERE finished IS NULL)`,
      [before],
    );
    return rows.map(({ run_id }) => run_id);
  }
}
