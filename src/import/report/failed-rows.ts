import { Injectable } from '@nestjs/common';
import { BOM, unescapeFormula, csvLine } from '../../common/csv.js';
import { truncated } from '../../common/text.js';
import { RunFiles } from '../file/run-files.js';
import { mayHoldPassword } from '../profiles/passwords.js';
import type { Checkpoint } from '../runs/checkpoint.js';
import { type ImportRun, isFinal } from '../runs/import-run.js';
import { ProblemError } from '../../common/errors.js';
import { type FailedRow, ImportReportRepository } from './import-report.repository.js';

const BATCH = 500;
/** Columns of `failed.csv` beside those of the file; an import ignores them. */
const ADDED = ['_line', '_code', '_message'];
/** Columns of the file of a revert, which has no rows of a file: a line for each conflict. `_value` could not be restored. */
const CONFLICTS = ['ExternalId', '_uuid', '_field', '_value', ...ADDED];
/** Stands behind a row with too few or too many cells: until somebody has removed it, the row fits no header. */
const MISFIT = 'put the cells right, then remove this one';

/** The failed rows of a run with their original cells, as `failed.csv`: corrected, that file can be imported again. */
@Injectable()
export class FailedRows {
  constructor(
    private readonly rows: ImportReportRepository,
    private readonly files: RunFiles,
  ) {}

  /**
   * Stores the original cells of the failed rows, in one more pass through the file if there are any. Columns that an
   * earlier `failed.csv` has added are left out, and so are those that may hold passwords.
   * @throws FileError when the file cannot be read again; what `Checkpoint.commit` throws.
   */
  async keepCells(run: ImportRun, checkpoint: Checkpoint): Promise<void> {
    if (run.reverts !== null) return;
    let wanted = await this.rows.failedWithoutCells(run.id, 0, BATCH);
    if (wanted.length === 0) return;
    const { reader, names, header } = await this.files.open(run);
    const own = (_: string, index: number): boolean => {
      const name = names[index] ?? '';
      return !name.trim().startsWith('_') && (header[index] !== undefined || !mayHoldPassword(name));
    };
    await checkpoint.commit(async () => undefined, { header: names.filter(own) });
    const key = header.findIndex((column) => column?.field === 'external_id');
    for await (const records of reader.records(BATCH)) {
      const last = records.at(-1)?.line ?? 0;
      const found = new Map(
        records
          .filter(({ line }) => wanted.includes(line))
          .map(({ line, cells }) => {
            const externalId = truncated(unescapeFormula(cells[key] ?? '').trim(), 255);
            return [line, { externalId, cells: cells.filter(own).map(unescapeFormula) }];
          }),
      );
      if (found.size > 0) await checkpoint.commit((tx) => this.rows.keepCells(tx, run.id, found));
      wanted = await this.rows.failedWithoutCells(run.id, last, BATCH);
      if (wanted.length === 0) return;
    }
  }

  private async isLost({ id, reason }: ImportRun): Promise<boolean> {
    const first = await this.rows.failed(id, 0, BATCH);
    return (
      first.length > 0 && (reason?.code === 'file_lost' || first.some(({ cells }) => cells.length === 0))
    );
  }

  /** The lines of `failed.csv`, read from the database page by page. For a revert: its conflicts. @throws ProblemError `file_lost`. */
  async *csv(run: ImportRun): AsyncGenerator<string> {
    if (run.reverts === null && isFinal(run.state) && (await this.isLost(run))) {
      throw new ProblemError(
        'file_lost',
        'The file was gone when the cells of its failed rows were to be kept.',
      );
    }
    const isRevert = run.reverts !== null;
    yield BOM + csvLine(isRevert ? CONFLICTS : [...run.header, ...ADDED]);
    let after = 0;
    for (;;) {
      const rows = await this.rows.failed(run.id, after, BATCH);
      const lines = isRevert
        ? rows.flatMap(conflicts)
        : rows.map((row) => failedCells(row, run.header.length));
      yield lines.map(csvLine).join('');
      const last = rows.at(-1);
      if (!last) return;
      after = last.line;
    }
  }
}

/**
 * A row as it was, and why it failed. Cells that the header has no column for stand behind that, with a note. A row that
 * nobody has put right fails again, also when a spreadsheet has filled it up: its cells may be in the wrong columns.
 */
function failedCells({ line, errors, cells }: FailedRow, width: number): string[] {
  const misfit = errors.some(({ code }) => code === 'wrong_cell_count');
  const behind = misfit
    ? [...cells.slice(width).filter((cell) => cell !== MISFIT && cell.trim() !== ''), MISFIT]
    : [];
  return [
    ...Array.from({ length: width }, (_, index) => cells[index] ?? ''), // a run that is still working has no cells yet
    String(line),
    errors.map(({ code }) => code).join(' '),
    errors.map(({ field, message }) => `${field} ${message}`.trim()).join('; '),
    ...behind,
  ];
}

function conflicts({ line, externalId, userUuid, errors }: FailedRow): string[][] {
  return errors.map(({ field, value, code, message }) => [
    externalId,
    userUuid ?? '',
    field,
    value ?? '',
    String(line),
    code,
    message,
  ]);
}
