import { Inject, Injectable } from '@nestjs/common';
import { Changes } from '../../platform/common/changes.js';
import { fromJson, toJson } from '../../platform/common/json.js';
import { insertRows } from '../../platform/database/engine/bulk.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import { type Sql, countRows, byIndex, placeholders } from '../../platform/database/engine/sql.js';
import { ImportRowEntity } from './import.entity.js';
import { BEFORE_ALL, type RowError, type StagedOutcome, type StagedRow, blocksUser } from './import-row.js';

/** Lines named in one statement. */
const CHUNK = 1000;

/** The staged rows of a run: its plan, and afterwards its report. Hand-written SQL, as it is set-based. */
@Injectable()
export class ImportRowsRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  async insert(tx: Sql, runId: string, rows: readonly StagedRow[]): Promise<void> {
    const entities = rows.map((row) => toEntity(runId, row));
    await insertRows(tx, ImportRowEntity, entities);
  }

  /** Overwrites rows of the same lines; others are added. */
  async replace(tx: Sql, runId: string, rows: readonly StagedRow[]): Promise<void> {
    for (let from = 0; from < rows.length; from += CHUNK) {
      const part = rows.slice(from, from + CHUNK);
      const lines = part.map(({ line }) => line);
      await this.deleteLines(tx, runId, lines);
      await this.insert(tx, runId, part);
    }
  }

  async deleteLines(tx: Sql, runId: string, lines: readonly number[]): Promise<void> {
    if (lines.length === 0) return;
    await tx.execute(`DELETE FROM import_rows WHERE run_id = ? AND line IN (${placeholders(lines.length)})`, [
      runId,
      ...lines,
    ]);
  }

  /** Deletes all rows in chunks, so that no lock lasts long. @param each runs the work on a chunk in a transaction. */
  async deleteAll(
    runId: string,
    each: (chunk: (sql: Sql) => Promise<void>) => Promise<void> = (chunk) => chunk(this.database),
  ): Promise<void> {
    const left = { some: true };
    while (left.some) {
      await each(async (sql) => {
        left.some = await this.deleteChunk(sql, runId);
      });
    }
  }

  /** @returns false when there was nothing left. */
  private async deleteChunk(sql: Sql, runId: string): Promise<boolean> {
    // Up to a known line, which MariaDB finds by the key.
    const [chunk] = await sql.query<{ last: number | null }>(
      'SELECT MAX(line) AS last FROM (SELECT line FROM import_rows WHERE run_id = ? ORDER BY line LIMIT 5000) AS part',
      [runId],
    );
    const last = chunk?.last ?? null;
    if (last === null) return false;
    await sql.execute('DELETE FROM import_rows WHERE run_id = ? AND line <= ?', [runId, last]);
    return true;
  }

  async lines(runId: string, lines: readonly number[], sql: Sql = this.database): Promise<StagedRow[]> {
    const found: StagedRow[] = [];
    for (let from = 0; from < lines.length; from += CHUNK) {
      const part = lines.slice(from, from + CHUNK);
      const rows = await sql.query<ImportRowEntity>(
        `SELECT ${ROW_COLUMNS} FROM import_rows WHERE run_id = ? AND line IN (${placeholders(part.length)}) ORDER BY line`,
        [runId, ...part],
      );
      found.push(...rows.map(toStaged));
    }
    return found;
  }

  /** Moves the rows to another batch. */
  async assign(tx: Sql, runId: string, lines: readonly number[], batch: number): Promise<void> {
    for (let from = 0; from < lines.length; from += CHUNK) {
      const part = lines.slice(from, from + CHUNK);
      await tx.execute(
        `UPDATE import_rows SET batch = ? WHERE run_id = ? AND line IN (${placeholders(part.length)})`,
        [batch, runId, ...part],
      );
    }
  }

  /** The rows of these batches, each batch in the order of its lines. */
  async batches(runId: string, first: number, last: number): Promise<StagedRow[]> {
    const rows = await this.database.query<ImportRowEntity>(
      `SELECT ${ROW_COLUMNS} FROM import_rows${byIndex(this.database, 'ix_import_rows_batch')}
       WHERE run_id = ? AND batch >= ? AND batch <= ? ORDER BY batch, line`,
      [runId, first, last],
    );
    return rows.map(toStaged);
  }

  /** Rows with lines above `after`, in their order. */
  async page(runId: string, after: number, limit: number): Promise<StagedRow[]> {
    const rows = await this.database.query<ImportRowEntity>(
      `SELECT ${ROW_COLUMNS} FROM import_rows WHERE run_id = ? AND line > ? ORDER BY line LIMIT ?`,
      [runId, after, limit],
    );
    return rows.map(toStaged);
  }

  /** Rows of one outcome with lines above `after`, in their order. */
  async ofOutcome(runId: string, outcome: StagedOutcome, after: number, limit: number): Promise<StagedRow[]> {
    const rows = await this.database.query<ImportRowEntity>(
      `SELECT ${ROW_COLUMNS} FROM import_rows${byIndex(this.database, 'ix_import_rows_outcome')}
       WHERE run_id = ? AND outcome = ? AND line > ? ORDER BY line LIMIT ?`,
      [runId, outcome, after, limit],
    );
    return rows.map(toStaged);
  }

  /** All rows of one outcome in their order, read page by page. */
  async *each(runId: string, outcome: StagedOutcome): AsyncGenerator<StagedRow> {
    for (let after = BEFORE_ALL; ;) {
      const rows = await this.ofOutcome(runId, outcome, after, CHUNK);
      yield* rows;
      const last = rows.at(-1);
      if (!last) return;
      after = last.line;
    }
  }

  /** Whether the plan of a run blocks a user. A plan may block any number: it is read beside the service. */
  async blocks(runId: string, userUuid: string): Promise<boolean> {
    const rows = await this.database.aside<Pick<ImportRowEntity, 'changes'>>(
      "SELECT changes FROM import_rows WHERE run_id = ? AND outcome IN ('blocked', 'error') AND user_uuid = ?",
      [runId, userUuid],
    );
    return rows.some(({ changes }) => blocksUser({ changes: Changes.read(changes) }));
  }

  /** Users who are blocked by rows that count as failed: of a row of a revert with a conflict, the rest is applied. */
  async countBlockedByFailed(runId: string): Promise<number> {
    let count = 0;
    for await (const row of this.each(runId, 'error')) if (blocksUser(row)) count++;
    return count;
  }

  /** Number of kept rows by outcome. */
  async countByOutcome(runId: string, sql: Sql = this.database): Promise<Map<StagedOutcome, number>> {
    const rows = await sql.query<{ outcome: StagedOutcome; count: number }>(
      'SELECT outcome, COUNT(*) AS count FROM import_rows WHERE run_id = ? GROUP BY outcome',
      [runId],
    );
    return new Map(rows.map(({ outcome, count }) => [outcome, count]));
  }

  /** Missing users that have been blocked. */
  async countMissing(runId: string, appliedBatches: number): Promise<number> {
    const text = `SELECT COUNT(*) AS count FROM import_rows
       WHERE run_id = ? AND outcome = 'missing' AND batch > 0 AND batch <= ?`;
    return countRows(this.database, text, [runId, appliedBatches]);
  }

  /** Marks the rows that a stopped run has not reached as skipped, without the uuids of users that it would have made. */
  async skipBehind(tx: Sql, runId: string, appliedBatches: number): Promise<void> {
    await tx.execute(
      `UPDATE import_rows SET outcome = 'skipped', changes = '[]', user_uuid = CASE version WHEN 0 THEN NULL ELSE user_uuid END
       WHERE run_id = ? AND batch > ? AND line > 0`,
      [runId, appliedBatches],
    );
  }
}

const NO_ERRORS = toJson<RowError[]>([]);

/** The columns that a staged row is read from. */
export const ROW_COLUMNS = 'line, outcome, external_id, user_uuid, version, batch, changes, errors';

/** The database row of a new staged row. */
export function toEntity(runId: string, row: StagedRow): ImportRowEntity {
  return {
    run_id: runId,
    line: row.line,
    outcome: row.outcome,
    code: row.errors[0]?.code ?? '',
    external_id: row.externalId,
    user_uuid: row.userUuid,
    version: row.version,
    batch: row.batch,
    changes: row.changes.text,
    errors: row.errors.length === 0 ? NO_ERRORS : toJson(row.errors),
    cells: null,
  };
}

/** The staged row of a database row. */
export function toStaged(row: ImportRowEntity): StagedRow {
  return {
    line: row.line,
    outcome: row.outcome,
    externalId: row.external_id,
    userUuid: row.user_uuid,
    version: row.version,
    batch: row.batch,
    changes: Changes.read(row.changes),
    errors: row.errors === NO_ERRORS ? [] : fromJson(row.errors),
  };
}
