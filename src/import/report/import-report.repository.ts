import { Inject, Injectable } from '@nestjs/common';
import { fromJson } from '../../platform/common/json.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import { type Sql, type SqlValue, byIndex, placeholders } from '../../platform/database/engine/sql.js';
import type { ImportRowEntity } from '../runs/import.entity.js';
import { ROW_COLUMNS, toStaged } from '../runs/import-rows.repository.js';
import { ROW_OUTCOMES } from '../runs/import-run.js';
import {
  BEFORE_ALL,
  type RowError,
  type StagedOutcome,
  type StagedRow,
  WARNINGS,
} from '../runs/import-row.js';

/** The filter of the rows of a run. */
export interface RowFilter {
  outcomes: readonly string[] | undefined;
  code: string | undefined;
  /** As the rows have them. */
  externalIds?: readonly string[] | undefined;
}

/** Where a page of rows begins. */
export interface Place {
  after: number;
  offset: number;
  limit: number;
}

/** Rows that an index has in the order of their lines. */
interface Part {
  /** The table, with its index. */
  from: string;
  where: string;
  params: SqlValue[];
}

/** What a list has without a filter. */
const LISTED: readonly StagedOutcome[] = [...ROW_OUTCOMES, 'missing'];

/** A failed row, as it is in the file. */
export interface FailedRow {
  line: number;
  externalId: string;
  userUuid: string | null;
  errors: RowError[];
  cells: string[];
}

/** Rows of a run as its report shows them. Hand-written SQL: the order of large results must come from an index. */
@Injectable()
export class ImportReportRepository {
  /** Rows of one outcome, in the order of their lines. */
  private readonly byOutcome: string;
  /** Rows with one code, in the order of their lines. */
  private readonly byCode: string;
  /** Rows with one external id, in the order of their lines. */
  private readonly byExternalId: string;

  constructor(@Inject(DATABASE) private readonly database: Database) {
    this.byOutcome = `import_rows${byIndex(database, 'ix_import_rows_outcome')}`;
    this.byCode = `import_rows${byIndex(database, 'ix_import_rows_code')}`;
    this.byExternalId = `import_rows${byIndex(database, 'ix_import_rows_external_id')}`;
  }

  /** The first rows with errors or warnings. */
  async problems(runId: string, limit: number, sql: Sql = this.database): Promise<StagedRow[]> {
    const failed = ['error', 'missing'].map((outcome): Part => {
      const where = `run_id = ? AND outcome = '${outcome}' AND code <> ''`;
      return { from: this.byOutcome, where, params: [runId] };
    });
    const warned = WARNINGS.map((code): Part => {
      const where = "run_id = ? AND code = ? AND outcome NOT IN ('error', 'missing')";
      return { from: this.byCode, where, params: [runId, code] };
    });
    return this.page(runId, [...failed, ...warned], { after: BEFORE_ALL, offset: 0, limit }, sql);
  }

  /** Rows in the order of their lines, after the line `after`. A page costs the same wherever it begins; an offset, its depth. */
  async list(runId: string, filter: RowFilter, place: Place): Promise<StagedRow[]> {
    return this.page(runId, this.parts(runId, filter), place);
  }

  /** How many rows a filter finds. */
  async count(runId: string, filter: RowFilter): Promise<number> {
    let count = 0;
    for (const { from, where, params } of this.parts(runId, filter)) {
      const sql = `SELECT COUNT(*) AS count FROM ${from} WHERE ${where}`;
      count += (await this.database.aside<{ count: number }>(sql, params))[0]?.count ?? 0;
    }
    return count;
  }

  /** The rows of a filter, in parts that an index has in the order of their lines. */
  private parts(runId: string, { outcomes, code, externalIds }: RowFilter): Part[] {
    const wanted = [...new Set(outcomes ?? LISTED)];
    const listed = `outcome IN (${placeholders(wanted.length)})`;
    if (externalIds !== undefined) {
      const coded = code === undefined ? '' : ' AND code = ?';
      const where = `run_id = ? AND external_id = ? AND ${listed}${coded}`;
      const rest = [...wanted, ...(code === undefined ? [] : [code])];
      return [...new Set(externalIds)].map((externalId) => ({
        from: this.byExternalId,
        where,
        params: [runId, externalId, ...rest],
      }));
    }
    if (code !== undefined) {
      const where = `run_id = ? AND code = ? AND ${listed}`;
      return [{ from: this.byCode, where, params: [runId, code, ...wanted] }];
    }
    return wanted.flatMap((outcome): Part[] => {
      if (outcome !== 'unchanged')
        return [{ from: this.byOutcome, where: 'run_id = ? AND outcome = ?', params: [runId, outcome] }];
      // The others are users that the data set begins to manage, which are no news.
      const where = "run_id = ? AND code = ? AND outcome = 'unchanged'";
      return WARNINGS.map((warning) => ({ from: this.byCode, where, params: [runId, warning] }));
    });
  }

  /** A page of parts: each in the order of its index. Together they would have to be sorted. */
  private async page(
    runId: string,
    parts: readonly Part[],
    { after, offset, limit }: Place,
    sql?: Sql,
  ): Promise<StagedRow[]> {
    const lines = parts.map(
      ({ from, where }, index) =>
        `SELECT line FROM (SELECT line FROM ${from} WHERE ${where} AND line > ? ORDER BY line LIMIT ?) AS part${index}`,
    );
    const query = `SELECT line FROM (${lines.join(' UNION ALL ')}) AS every_line ORDER BY line LIMIT ? OFFSET ?`;
    const params = [...parts.flatMap((part) => [...part.params, after, offset + limit]), limit, offset];
    const found = sql
      ? await sql.query<{ line: number }>(query, params)
      : await this.database.aside<{ line: number }>(query, params);
    if (found.length === 0) return [];
    const rows = await (sql ?? this.database).query<ImportRowEntity>(
      `SELECT ${ROW_COLUMNS} FROM import_rows WHERE run_id = ? AND line IN (${placeholders(found.length)}) ORDER BY line`,
      [runId, ...found.map(({ line }) => line)],
    );
    return rows.map(toStaged);
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
      `SELECT line, external_id, user_uuid, errors, cells FROM ${this.byOutcome}
       WHERE run_id = ? AND outcome = 'error' AND line > ? ORDER BY line LIMIT ?`,
      [runId, after, limit],
    );
    return rows.map(({ line, external_id, user_uuid, errors, cells }) => ({
      line,
      externalId: external_id,
      userUuid: user_uuid,
      errors: fromJson(errors),
      cells: cells ? fromJson(cells) : [],
    }));
  }
}
