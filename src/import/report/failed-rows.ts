import { Injectable } from '@nestjs/common';
import { BOM, toDelimitedLine, unescapeFormula } from '../../platform/common/csv.js';
import { truncate } from '../../platform/common/text.js';
import { ADDED_COLUMNS } from '../file/failed-file.js';
import type { CsvRecord } from '../file/record-parser.js';
import { RunFiles, type SourceUse } from '../file/run-files.js';
import type { Checkpoint } from '../runs/run-transitions.service.js';
import { type ImportRun, hasFile } from '../runs/import-run.js';
import { FINAL } from '../runs/run-states.js';
import { ProblemError } from '../../platform/common/errors.js';
import { ImportRowsRepository, type StoredRow } from '../runs/import-rows.repository.js';
import { type Visibility, hideInRow } from '../runs/visible-values.js';

const BATCH = 500;
/**
 * Columns of `failed.csv` for a revert or a bulk change. The file has one line for each conflict. `_value` is the value
 * that could not be restored.
 */
const CONFLICTS = ['ExternalId', '_uuid', '_field', '_value', ...ADDED_COLUMNS.slice(1)];
/**
 * Text of an extra cell in a line with a wrong number of cells. The line fails again until a person removes this cell.
 */
const REPAIR_NOTE = 'correct the cells of this row, then remove this cell';

/**
 * Failed rows of a run with their original cells, for the file `failed.csv`. After corrections, this file can be
 * imported.
 */
@Injectable()
export class FailedRows {
  constructor(
    private readonly rows: ImportRowsRepository,
    private readonly files: RunFiles,
  ) {}

  /**
   * Reads the file again and stores the original cells of its failed rows. Omits private columns and the columns that
   * `failed.csv` adds.
   * @throws FileError if the file cannot be read again, or the errors of `Checkpoint.commit`.
   */
  async storeCells(run: ImportRun, checkpoint: Checkpoint): Promise<void> {
    if (!hasFile(run)) return;
    let lines = await this.rows.listFailedWithoutCells(run.id, 0, BATCH);
    if (lines.length === 0) return;
    const file = await this.files.open(run);
    const { names, header, uses, reader } = file;
    const kept = names.filter((_, index) => uses[index] === 'stored').map(unescapeFormula);
    await checkpoint.commit(async () => undefined, {
      header: kept,
      delimiter: reader.detected.delimiter ?? null,
    });
    const key = header.findIndex((column) => column?.field === 'external_id');
    for await (const records of file.readRecords(BATCH)) {
      const last = records.at(-1)?.line ?? 0;
      const failed = records.filter(({ line }) => lines.includes(line));
      const found = new Map(
        failed.map((record) => {
          const external_id = truncate(unescapeFormula(record.cells[key] ?? '').trim(), 255);
          return [record.line, { external_id, cells: pickCells(record, uses).map(unescapeFormula) }];
        }),
      );
      if (found.size > 0) await checkpoint.commit((tx) => this.rows.storeCells(tx, run.id, found));
      lines = await this.rows.listFailedWithoutCells(run.id, last, BATCH);
      if (lines.length === 0) return;
    }
  }

  private async isFileLost({ id, reason }: ImportRun): Promise<boolean> {
    for await (const first of this.rows.readPages(id, BATCH, 'error'))
      return reason?.code === 'file_lost' || first.some(({ cells }) => cells.length === 0);
    return false;
  }

  /**
   * Yields the lines of `failed.csv`, from which an import recognizes the run. For a revert, yields the conflicts.
   * @throws ProblemError `file_lost` if the file of the run was missing before the cells of failed rows were stored.
   */
  async *streamCsv(run: ImportRun, visibility: Visibility): AsyncGenerator<string> {
    const isFile = hasFile(run);
    if (isFile && FINAL.includes(run.state) && (await this.isFileLost(run))) {
      const detail =
        'The file of this import was lost before its failed rows were stored. Import the original file again.';
      throw new ProblemError('file_lost', detail);
    }
    const delimiter = run.delimiter ?? run.profile?.delimiter ?? ',';
    yield BOM + toDelimitedLine(isFile ? [...run.header, ...ADDED_COLUMNS] : CONFLICTS, delimiter);
    for await (const stored of this.rows.readPages(run.id, BATCH, 'error')) {
      const rows = stored.map((row) => hideInRow(row, visibility));
      const lines = isFile ? rows.map((row) => toFailedLine(row, run)) : rows.flatMap(toConflictLines);
      yield lines.map((cells) => toDelimitedLine(cells, delimiter)).join('');
    }
  }
}

/**
 * Returns the cells of a failed row that may be stored. In a record with a wrong number of cells, a cell may belong to
 * one of several columns. If one of these columns is private, the cell is stored as blank.
 */
function pickCells({ cells, sourceCells, expectedCells }: CsvRecord, uses: readonly SourceUse[]): string[] {
  const all = sourceCells ?? cells;
  const shift = expectedCells === undefined ? 0 : all.length - expectedCells;
  return all.flatMap((cell, index) => {
    if (index < uses.length && uses[index] !== 'stored') return [];
    const possible = uses.slice(Math.max(0, index - Math.max(0, shift)), index + 1 + Math.max(0, -shift));
    return [possible.includes('private') ? '' : cell];
  });
}

/**
 * Returns a line of `failed.csv`: the cells of a failed row and the reasons of its failure. If the number of cells is
 * wrong, an extra cell makes the row fail again until a person corrects it.
 */
function toFailedLine({ line, errors, cells }: StoredRow, { id, header }: ImportRun): string[] {
  const width = header.length;
  const isMismatch = errors.some(({ code }) => code === 'wrong_cell_count');
  const extraCells = isMismatch
    ? [...cells.slice(width).filter((cell) => cell !== REPAIR_NOTE && cell.trim() !== ''), REPAIR_NOTE]
    : [];
  return [
    ...Array.from({ length: width }, (_, index) => cells[index] ?? ''), // cells are not stored yet while a run is in progress
    id,
    String(line),
    errors.map(({ code }) => code).join(' '),
    errors.map(({ field, message }) => `${field} ${message}`.trim()).join('; '),
    ...extraCells,
  ];
}

function toConflictLines({ line, external_id, user_uuid, errors }: StoredRow): string[][] {
  return errors.map(({ field, value, code, message }) => [
    external_id,
    user_uuid ?? '',
    field,
    value ?? '',
    String(line),
    code,
    message,
  ]);
}
