import { Inject, Injectable } from '@nestjs/common';
import { Changes } from '../../platform/common/field-changes.js';
import { fromJson, toJson } from '../../platform/common/json.js';
import {
  type Sql,
  type SqlValue,
  indexHintOf,
  countRows,
  chunkValues,
  insertRows,
  toPlaceholders,
} from '../../platform/database/engine/sql.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import { readPages } from '../../platform/database/keyset-pages.js';
import { ImportRowEntity } from './import.entity.js';
import {
  MIN_LINE,
  type Counts,
  type RowError,
  type StagedOutcome,
  type StagedRow,
  blocksUser,
  lineOf,
  NO_COUNTS,
  STAGED_OUTCOMES,
  WARNINGS,
} from './import-row.js';

export interface RowFilter {
  outcome?: readonly string[];
  code?: string;
  /** ExternalIds, spelled exactly as in the stored rows. */
  external_id?: readonly string[];
  /** True if `external_id` finds only rows of the file, not missing users. */
  isInFile?: boolean;
}

export interface RowPosition {
  after: number;
  offset: number;
  limit: number;
}

/** Rows that the database can read from one index, in the order of their lines. */
interface RowSet {
  from: string;
  where: string;
  params: SqlValue[];
}

/** A staged row as it is stored. Only failed rows have original cells. */
export type StoredRow = StagedRow & { cells: string[] };

type RowIndex = 'batch' | 'code' | 'external_id' | 'outcome';

const PAGE_SIZE = 1000;

const toLinesSql = (lines: readonly number[]): string =>
  `run_id = ? AND line IN (${toPlaceholders(lines.length)})`;

/**
 * Repository of the staged rows of a run, which are its plan and later its report. Uses hand-written SQL, because it
 * works on sets of rows and must read large results in the order of an index.
 */
@Injectable()
export class ImportRowsRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /** Returns the table name with the hint to use an index. */
  private toTableSql(index: RowIndex): string {
    return `import_rows${indexHintOf(this.database, `ix_import_rows_${index}`)}`;
  }

  async insert(tx: Sql, runId: string, rows: readonly StagedRow[]): Promise<void> {
    const entities = rows.map((row) => toEntity(runId, row));
    await insertRows(tx, ImportRowEntity, entities);
  }

  async replace(tx: Sql, runId: string, rows: readonly StagedRow[]): Promise<void> {
    for (const part of chunkValues(rows.map(({ line }) => line)))
      await tx.execute(`DELETE FROM import_rows WHERE ${toLinesSql(part)}`, [runId, ...part]);
    await this.insert(tx, runId, rows);
  }

  /**
   * Deletes all rows of a run in chunks, so that each lock is short.
   * @param runChunk runs a function that deletes one chunk, for example in a transaction.
   */
  async deleteAll(
    runId: string,
    runChunk: (chunk: (sql: Sql) => Promise<boolean>) => Promise<boolean> = (chunk) => chunk(this.database),
  ): Promise<void> {
    while (await runChunk((sql) => this.deleteChunk(sql, runId)));
  }

  /** Deletes a chunk of rows. @returns false if no rows were left. */
  private async deleteChunk(sql: Sql, runId: string): Promise<boolean> {
    // Find the last line first, because MariaDB then uses the primary key for the deletion.
    const query =
      'SELECT MAX(line) AS last FROM (SELECT line FROM import_rows WHERE run_id = ? ORDER BY line LIMIT 5000) AS part';
    const [chunk] = await sql.query<{ last: number | null }>(query, [runId]);
    const last = chunk?.last ?? null;
    if (last === null) return false;
    await sql.execute('DELETE FROM import_rows WHERE run_id = ? AND line <= ?', [runId, last]);
    return true;
  }

  private async select(
    from: string,
    where: string,
    params: readonly SqlValue[],
    sql: Sql = this.database,
  ): Promise<StoredRow[]> {
    const query = `SELECT ${ROW_COLUMNS} FROM ${from} WHERE ${where}`;
    return (await sql.query<StoredColumns>(query, params)).map(toStoredRow);
  }

  async findByLines(runId: string, numbers: readonly number[], sql?: Sql): Promise<StoredRow[]> {
    const found: StoredRow[] = [];
    for (const part of chunkValues(numbers)) {
      const where = `${toLinesSql(part)} ORDER BY line`;
      found.push(...(await this.select('import_rows', where, [runId, ...part], sql)));
    }
    return found;
  }

  /** Finds the rows that create users with the given ExternalIds. */
  async findCreated(runId: string, externalIds: readonly string[]): Promise<StagedRow[]> {
    const found: StagedRow[] = [];
    for (const part of chunkValues(externalIds)) {
      const where = `run_id = ? AND external_id IN (${toPlaceholders(part.length)}) AND outcome = 'created'`;
      found.push(...(await this.select(this.toTableSql('external_id'), where, [runId, ...part])));
    }
    return found;
  }

  async assignBatch(tx: Sql, runId: string, numbers: readonly number[], batch: number): Promise<void> {
    for (const part of chunkValues(numbers))
      await tx.execute(`UPDATE import_rows SET batch = ? WHERE ${toLinesSql(part)}`, [batch, runId, ...part]);
  }

  async listBatchRows(runId: string, first: number, last: number): Promise<StagedRow[]> {
    const where = 'run_id = ? AND batch >= ? AND batch <= ? ORDER BY batch, line';
    return this.select(this.toTableSql('batch'), where, [runId, first, last]);
  }

  /** Yields the rows of a run page by page, sorted by line. @param outcome only rows with this outcome. */
  readPages(runId: string, limit = PAGE_SIZE, outcome?: StagedOutcome): AsyncGenerator<StoredRow[]> {
    const [from, test] = outcome ? [this.toTableSql('outcome'), 'outcome = ? AND'] : ['import_rows', ''];
    const where = `run_id = ? AND ${test} line > ? ORDER BY line LIMIT ?`;
    return readPages(MIN_LINE, lineOf, (after) =>
      this.select(from, where, [runId, ...(outcome ? [outcome] : []), after, limit]),
    );
  }

  async *readAll(runId: string, outcome: StagedOutcome): AsyncGenerator<StagedRow> {
    for await (const rows of this.readPages(runId, PAGE_SIZE, outcome)) yield* rows;
  }

  /**
   * Returns true if a plan blocks or deletes the user. The query runs in a separate process, because it may read many rows.
   */
  async isUserBlocked(runId: string, user_uuid: string): Promise<boolean> {
    const query =
      "SELECT outcome, changes FROM import_rows WHERE run_id = ? AND outcome IN ('blocked', 'deleted', 'error') AND user_uuid = ?";
    const rows = await this.database.scan<Pick<ImportRowEntity, 'outcome' | 'changes'>>(query, [
      runId,
      user_uuid,
    ]);
    return rows.some(
      ({ outcome, changes }) => outcome === 'deleted' || blocksUser({ changes: Changes.fromText(changes) }),
    );
  }

  /**
   * Counts the users whom failed rows block. A failed row of a revert is applied except for its conflicts, so it may
   * block a user.
   */
  async countBlockedByFailedRows(runId: string): Promise<number> {
    let count = 0;
    for await (const row of this.readAll(runId, 'error')) if (blocksUser(row)) count++;
    return count;
  }

  /** Returns the last line of a run with a stored row, or 0. */
  async findLastLine(runId: string, sql: Sql): Promise<number> {
    const query = 'SELECT MAX(line) AS last FROM import_rows WHERE run_id = ?';
    const [row] = await sql.query<{ last: number | null }>(query, [runId]);
    return row?.last ?? 0;
  }

  /** Counts the staged rows by outcome, without missing users. */
  async countByOutcome(runId: string, sql: Sql = this.database): Promise<Counts> {
    const query = 'SELECT outcome, COUNT(*) AS count FROM import_rows WHERE run_id = ? GROUP BY outcome';
    const rows = await sql.query<{ outcome: StagedOutcome; count: number }>(query, [runId]);
    const counts = { ...NO_COUNTS };
    for (const { outcome, count } of rows)
      if (outcome !== 'missing' && outcome !== 'manager_cleared') counts[outcome] = count;
    return counts;
  }

  /** Returns the number of missing users whom the applied batches have blocked. */
  async countMissing(runId: string, appliedBatches: number, sql: Sql = this.database): Promise<number> {
    const text = `SELECT COUNT(*) AS count FROM import_rows
       WHERE run_id = ? AND outcome = 'missing' AND batch > 0 AND batch <= ?`;
    return countRows(sql, text, [runId, appliedBatches]);
  }

  /**
   * Turns the rows after the applied batches into skipped rows. Removes the UUIDs of new users, who will not be
   * created.
   */
  async markRowsSkipped(tx: Sql, runId: string, appliedBatches: number): Promise<void> {
    await tx.execute(
      `UPDATE import_rows SET outcome = 'skipped', changes = '[]', user_uuid = CASE version WHEN 0 THEN NULL ELSE user_uuid END
       WHERE run_id = ? AND batch > ? AND line > 0`,
      [runId, appliedBatches],
    );
  }

  async listProblemRows(runId: string, limit: number, sql: Sql = this.database): Promise<StoredRow[]> {
    const failures = ['error', 'missing'].map((outcome) =>
      this.createSet(runId, 'outcome', `outcome = '${outcome}' AND code <> ''`),
    );
    const warnings = WARNINGS.map((code) =>
      this.createSet(runId, 'code', "code = ? AND outcome NOT IN ('error', 'missing')", code),
    );
    return this.mergePage(runId, [...failures, ...warnings], { after: MIN_LINE, offset: 0, limit }, sql);
  }

  /** Returns a page of the rows that match a filter. A high `offset` is slow, but a high `after` is not. */
  async list(runId: string, filter: RowFilter, position: RowPosition): Promise<StoredRow[]> {
    return this.mergePage(runId, this.splitIntoSets(runId, filter), position);
  }

  async count(runId: string, filter: RowFilter): Promise<number> {
    let count = 0;
    for (const { from, where, params } of this.splitIntoSets(runId, filter)) {
      const sql = `SELECT COUNT(*) AS count FROM ${from} WHERE ${where}`;
      count += (await this.database.scan<{ count: number }>(sql, params))[0]?.count ?? 0;
    }
    return count;
  }

  /** Returns sets of rows that together match a filter. Each set can be read from one index. */
  private splitIntoSets(
    runId: string,
    { outcome: outcomes, code, external_id: externalIds, isInFile }: RowFilter,
  ): RowSet[] {
    const wanted = [...new Set(outcomes ?? STAGED_OUTCOMES)];
    const listed = `outcome IN (${toPlaceholders(wanted.length)})`;
    if (externalIds !== undefined) {
      const coded = code === undefined ? '' : ' AND code = ?';
      const inFile = isInFile ? ' AND line > 0' : '';
      const test = `external_id = ? AND ${listed}${coded}${inFile}`;
      const rest = [...wanted, ...(code === undefined ? [] : [code])];
      return [...new Set(externalIds)].map((id) => this.createSet(runId, 'external_id', test, id, ...rest));
    }
    if (code !== undefined) return [this.createSet(runId, 'code', `code = ? AND ${listed}`, code, ...wanted)];
    return wanted.flatMap((outcome) => {
      if (outcome !== 'unchanged') return [this.createSet(runId, 'outcome', 'outcome = ?', outcome)];
      // List only unchanged rows with a warning. Other unchanged rows are stored only because the data set starts to
      // manage their user.
      const test = "code = ? AND outcome = 'unchanged'";
      return WARNINGS.map((warning) => this.createSet(runId, 'code', test, warning));
    });
  }

  /** Returns the rows of a run that meet a condition. Reads them from an index. */
  private createSet(runId: string, index: RowIndex, test: string, ...params: SqlValue[]): RowSet {
    return { from: this.toTableSql(index), where: `run_id = ? AND ${test}`, params: [runId, ...params] };
  }

  /**
   * Returns a page of rows from several sets. Reads each set from its own index, because one query for all sets would
   * sort all rows.
   */
  private async mergePage(
    runId: string,
    rowSets: readonly RowSet[],
    { after, offset, limit }: RowPosition,
    sql?: Sql,
  ): Promise<StoredRow[]> {
    const selects = rowSets.map(
      ({ from, where }, index) =>
        `SELECT line FROM (SELECT line FROM ${from} WHERE ${where} AND line > ? ORDER BY line LIMIT ?) AS part${index}`,
    );
    const query = `SELECT line FROM (${selects.join(' UNION ALL ')}) AS every_line ORDER BY line LIMIT ? OFFSET ?`;
    const params = [...rowSets.flatMap((part) => [...part.params, after, offset + limit]), limit, offset];
    const found = sql
      ? await sql.query<{ line: number }>(query, params)
      : await this.database.scan<{ line: number }>(query, params);
    const wanted = found.map(({ line }) => line);
    return wanted.length === 0 ? [] : this.findByLines(runId, wanted, sql);
  }

  async storeCells(
    tx: Sql,
    runId: string,
    cells: ReadonlyMap<number, { external_id: string; cells: readonly string[] }>,
  ): Promise<void> {
    const sql = 'UPDATE import_rows SET cells = ?, external_id = ? WHERE run_id = ? AND line = ?';
    for (const [line, { external_id, cells: kept }] of cells)
      await tx.execute(sql, [JSON.stringify(kept), external_id, runId, line]);
  }

  async listFailedWithoutCells(runId: string, after: number, limit: number): Promise<number[]> {
    const where = "run_id = ? AND outcome = 'error' AND cells IS NULL AND line > ? ORDER BY line LIMIT ?";
    const rows = await this.select(this.toTableSql('outcome'), where, [runId, after, limit]);
    return rows.map(lineOf);
  }
}

const NO_ERRORS = toJson<RowError[]>([]);

type StoredColumns = Omit<ImportRowEntity, 'run_id' | 'code'>;
const ROW_COLUMNS = 'line, outcome, external_id, user_uuid, version, batch, changes, errors, cells, manager';

export function toEntity(runId: string, row: StagedRow): ImportRowEntity {
  const { changes, errors, ...columns } = row;
  return {
    ...columns,
    run_id: runId,
    code: errors[0]?.code ?? '',
    changes: changes.text,
    errors: errors.length === 0 ? NO_ERRORS : toJson(errors),
    cells: null,
  };
}

const toStoredRow = ({ changes, errors, cells, ...columns }: StoredColumns): StoredRow => ({
  ...columns,
  changes: Changes.fromText(changes),
  errors: errors === NO_ERRORS ? [] : fromJson(errors),
  cells: cells ? fromJson(cells) : [],
});
