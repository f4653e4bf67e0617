import { Inject, Injectable } from '@nestjs/common';
import { insertRows } from '../../database/bulk.js';
import { DATABASE, type Database } from '../../database/database.js';
import { ImportFilePartEntity } from '../run/import.entity.js';

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

  /** Parts that nobody needs: of runs that are over, and of uploads that broke off before they were a run. */
  async deleteOrphans(before: string): Promise<void> {
    await this.database.execute(
      'DELETE FROM import_file_parts WHERE run_id < ? AND run_id NOT IN (SELECT id FROM import_runs WHERE finished IS NULL)',
      [before],
    );
  }
}
