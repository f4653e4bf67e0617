import { Injectable } from '@nestjs/common';
import { truncated } from '../../common/text.js';
import { armed } from '../../common/csv.js';
import { RunFiles } from '../file/run-files.js';
import { ImportReportRepository } from './import-report.repository.js';
import type { ImportRun } from '../runs/import-run.js';
import type { Checkpoint } from '../runs/checkpoint.js';

/** Rows of a batch of the file, and of a look at what is still without its cells. */
const BATCH = 500;

/**
 * Keeps the original cells of failed rows, for `failed.csv`: a last walk through the file, only where rows failed.
 * Columns that a `failed.csv` has added are left out.
 */
@Injectable()
export class FailedCells {
  constructor(
    private readonly rows: ImportReportRepository,
    private readonly files: RunFiles,
  ) {}

  async keep(run: ImportRun, checkpoint: Checkpoint): Promise<void> {
    if (run.reverts !== null) return;
    let wanted = await this.rows.failedWithoutCells(run.id, 0, BATCH);
    if (wanted.length === 0) return;
    const { reader, names, header } = await this.files.open(run);
    const own = (_: string, index: number): boolean => !(names[index] ?? '').trim().startsWith('_');
    await checkpoint.commit(async () => undefined, { header: names.filter(own) });
    const key = header.findIndex((column) => column?.field === 'external_id');
    for await (const records of reader.records(BATCH)) {
      const last = records.at(-1)?.line ?? 0;
      const found = new Map(
        records
          .filter(({ line }) => wanted.includes(line))
          .map(({ line, cells }) => {
            const kept = cells.filter(own).map(armed);
            return [
              line,
              {
                externalId: truncated(armed(cells[key] ?? '').trim(), 255),
                cells: kept,
              },
            ];
          }),
      );
      if (found.size > 0) await checkpoint.commit((tx) => this.rows.keepCells(tx, run.id, found));
      wanted = await this.rows.failedWithoutCells(run.id, last, BATCH);
      if (wanted.length === 0) return;
    }
  }
}
