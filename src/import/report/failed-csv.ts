import { Injectable } from '@nestjs/common';
import { BOM, csvLine } from '../../common/csv.js';
import { ImportReportRepository } from './import-report.repository.js';
import type { ImportRun } from '../runs/import-run.js';

const PAGE = 500;
const EXTRA = ['_line', '_code', '_message'];

/** The failed rows of a run with their original columns: corrected and sent again, the file closes the gap. */
@Injectable()
export class FailedCsv {
  constructor(private readonly rows: ImportReportRepository) {}

  async *lines(run: ImportRun): AsyncGenerator<string> {
    yield BOM + csvLine([...run.header, ...EXTRA]);
    let after = 0;
    for (;;) {
      const rows = await this.rows.failed(run.id, after, PAGE);
      yield rows
        .map(({ line, errors, cells }) =>
          csvLine([
            ...run.header.map((_, index) => cells[index] ?? ''), // which come last, while the run works
            String(line),
            errors.map(({ code }) => code).join(' '),
            errors.map(({ field, message }) => `${field} ${message}`.trim()).join('; '),
          ]),
        )
        .join('');
      const last = rows.at(-1);
      if (!last) return;
      after = last.line;
    }
  }
}
