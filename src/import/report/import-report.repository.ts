import { Inject, Injectable } from '@nestjs/common';
import { fromJson } from '../../common/json.js';
import { DATABASE, type Database } from '../../database/engine/database.js';
import { type Sql, type SqlValue, byIndex, placeholders } from '../../database/engine/sql.js';
import type { ImportRowEntity } from '../runs/import.entity.js';
import { ROW_COLUMNS, toStaged } from '../runs/import-rows.repository.js';
import type { RowError, StagedRow } from '../runs/import-row.js';

/** The filter of the rows of a run. */
export interface RowFilter {
  outcomes: readonly string[] | undefined;
  code: string | undefined;
}

/** A failed row, as it is in the file. */
export interface FailedRow {
  line: number;
  errors: RowError[];
  cells: string[];
}

/** Rows of a run as its report shows them. Hand-written SQL: the order of large results must come from an index. */
@Injectable()
export class ImportReportRepository {
  /** Rows of one outcome, in the order of their lines. */
  private readonly byOutcome: string;

  constructor(@Inject(DATABASE) private readonly database: Database) {
    this.byOutcome = `import_rows${byIndex(database, 'ix_import_rows_outcome')}`;
  }

  /** The first rows with errors. */
  async problems(runId: string, limit: number, sql: Sql = this.database): Promise<StagedRow[]> {
    const problems = (outcome: string): string =>
      `SELECT ${ROW_COLUMNS} FROM ${this.byOutcome}
       WHERE run_id = ? AND outcome = '${outcome}' AND code <> '' ORDER BY line LIMIT ?`;
    const rows = await sql.query<ImportRowEntity>(
      // Each outcome in the order of its index: together they would have to be sorted.
      `SELECT * FROM (${problems('error')}) AS errors UNION ALL SELECT * FROM (${problems('missing')}) AS others
       ORDER BY line LIMIT ?`,
      [runId, limit, runId, limit, limit],
    );
    return rows.map(toStaged);
  }

  async list(
    runId: string,
    filter: RowFilter,
    { offset, limit }: { offset: number; limit: number },
  ): Promise<{ count: number; rows: StagedRow[] }> {
    const { sql, params } = conditions(runId, filter);
    const rows = await this.database.aside<ImportRowEntity>(
      `SELECT ${ROW_COLUMNS} FROM import_rows WHERE ${sql} ORDER BY line LIMIT ? OFFSET ?`,
      [...params, limit, offset],
    );
    const [total] = await this.database.aside<{ count: number }>(
      `SELECT COUNT(*) AS count FROM import_rows WHERE ${sql}`,
      params,
    );
    return { count: total?.count ?? 0, rows: rows.map(toStaged) };
  }

  /** Keeps the cells of failed rows, by line. */
  async keepCells(
    tx: Sql,
    runId: string,
    cells: ReadonlyMap<number, { externalId: string; cells: readonly string[] }>,
  ): Promise<void> {
    for (const [line, row] of cells) {
      const params = [JSON.stringify(row.cells), row.externalId, runId, line];
      await tx.execute(
        'UPDATE import_rows SET cells = ?, external_id = ? WHERE run_id = ? AND line = ?',
        params,
      );
    }
  }

  /** Lines of failed rows whose cells are not kept yet, above `after`. */
  async failedWithoutCells(runId: string, after: number, limit: number): Promise<number[]> {
    const rows = await this.database.query<{ line: number }>(
      `SELECT line FROM ${this.byOutcome} WHERE run_id = ? AND outcome = 'error' AND cells IS NULL AND line > ?
       ORDER BY line LIMIT ?`,
      [runId, after, limit],
    );
    return rows.map(({ line }) => line);
  }

  async failed(runId: string, after: number, limit: number): Promise<FailedRow[]> {
    const rows = await this.database.query<ImportRowEntity>(
      `SELECT line, errors, cells FROM ${this.byOutcome} WHERE run_id = ? AND outcome = 'error' AND line > ?
       ORDER BY line LIMIT ?`,
      [runId, after, limit],
    );
    return rows.map(({ line, errors, cells }) => ({
      line,
      errors: fromJson(errors),
      cells: cells ? fromJson(cells) : [],
    }));
  }
}

function conditions(runId: string, filter: RowFilter): { sql: string; params: SqlValue[] } {
  const parts = ['run_id = ?', "outcome <> 'unchanged'"]; // claims of users without another change
  const params: SqlValue[] = [runId];
  if (filter.outcomes) {
    parts.push(`outcome IN (${placeholders(filter.outcomes.length)})`);
    params.push(...filter.outcomes);
  }
  if (filter.code !== undefined) {
    parts.push('code = ?');
    params.push(filter.code);
  }
  return { sql: parts.join(' AND '), params };
}
