import { Inject, Injectable } from '@nestjs/common';
import { type DbTime, computeLatestTrustedTime } from '../../platform/common/time.js';
import { fromJson } from '../../platform/common/json.js';
import { createUuidAfter } from '../../platform/common/uuid.js';
import {
  type Sql,
  type SqlValue,
  countRows,
  indexHintOf,
  lockClauseOf,
  insertRows,
  toPlaceholders,
} from '../../platform/database/engine/sql.js';
import { DATABASE } from '../../platform/database/engine/database.js';
import type { Actor } from '../../access/actor.js';
import { ImportRunEntity } from './import.entity.js';
import type { UserScope } from '../../users/search/user-scope.js';
import {
  type ImportRun,
  type RunChange,
  type StateChange,
  toRunActor,
  toColumns,
  toRunRow,
  toRun,
} from './import-run.js';
import { COMPLETED, CREDENTIAL_REVOKED, RUNNABLE, type RunState, WAITING } from './run-states.js';

/** SQL condition of each filter with a single value. */
const CONDITIONS = {
  dataset: 'dataset = ?',
  // MariaDB returns JSON text with quotes, SQLite without.
  profile: `JSON_EXTRACT(profile, '$.name') IN (?, ?)`,
  /** Id of the user or API key that started the run. */
  actor: 'actor_id = ?',
  created_since: 'created >= ?',
  created_until: 'created < ?',
} as const;

export type RunFilter = { state?: readonly string[] } & { [name in keyof typeof CONDITIONS]?: string };

/** Repository of runs. Uses hand-written SQL for locks and for updates of single columns (ADR 13). */
@Injectable()
export class ImportRunsRepository {
  constructor(@Inject(DATABASE) private readonly database: Sql) {}

  /** Creates an id that is greater than the ids of all runs, because the order of ids is the order of runs. */
  async createId(sql: Sql = this.database): Promise<string> {
    const row = await sql.queryOne<{ id: string | null }>('SELECT MAX(id) AS id FROM import_runs');
    return createUuidAfter(row?.id ?? '');
  }

  async insert(tx: Sql, run: ImportRun): Promise<void> {
    await insertRows(tx, ImportRunEntity, [toRunRow(run)]);
  }

  private async select(
    tail: string,
    params: readonly SqlValue[],
    sql: Sql = this.database,
  ): Promise<ImportRun[]> {
    return (await sql.query<ImportRunEntity>(`SELECT * FROM import_runs ${tail}`, params)).map(toRun);
  }

  private async selectIds(tail: string, params: readonly SqlValue[]): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(`SELECT id FROM import_runs ${tail}`, params);
    return rows.map(({ id }) => id);
  }

  async find(id: string): Promise<ImportRun | undefined> {
    return (await this.select('WHERE id = ?', [id]))[0];
  }

  async lock(tx: Sql, id: string): Promise<ImportRun | undefined> {
    return (await this.select(`WHERE id = ?${lockClauseOf(tx)}`, [id], tx))[0];
  }

  async list(
    { state, ...filter }: RunFilter,
    { offset, limit }: { offset: number; limit: number },
  ): Promise<{ count: number; runs: ImportRun[] }> {
    const conditions = state ? [`state IN (${toPlaceholders(state.length)})`] : [];
    const params: SqlValue[] = [...(state ?? [])];
    for (const [name, condition] of Object.entries(CONDITIONS)) {
      const value = filter[name as keyof typeof CONDITIONS];
      if (value === undefined) continue;
      conditions.push(condition);
      params.push(value, ...(name === 'profile' ? [JSON.stringify(value)] : []));
    }
    const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
    const runs = await this.select(`${where} ORDER BY id DESC LIMIT ? OFFSET ?`, [...params, limit, offset]);
    const count = await countRows(this.database, `SELECT COUNT(*) AS n FROM import_runs ${where}`, params);
    return { count, runs };
  }

  /** Returns the id of the next run to plan or apply. A started run comes before queued runs. */
  async findNextRunId(): Promise<string | undefined> {
    const sql = `SELECT id, state FROM import_runs WHERE state IN (${toPlaceholders(RUNNABLE.length)}) ORDER BY id`;
    const rows = await this.database.query<{ id: string; state: string }>(sql, RUNNABLE);
    return (rows.find(({ state }) => state !== 'queued') ?? rows[0])?.id;
  }

  /**
   * Returns runs of a data set or part in the given states, newest first, without reverts and corrections, which are
   * not files of the source. With `tx`, locks the runs until the transaction ends.
   */
  async listInScope(
    { dataset, part }: UserScope,
    states: readonly RunState[],
    limit: number,
    tx?: Sql,
  ): Promise<ImportRun[]> {
    const runs: ImportRun[] = [];
    // With one state per query, the index gives the order. Otherwise, the database would sort all runs of the data set.
    for (const state of states) {
      const tail = `WHERE dataset = ? AND state = ? AND reverts IS NULL AND corrects IS NULL AND COALESCE(part, '') = ?
         ORDER BY id DESC LIMIT ?${tx ? lockClauseOf(tx) : ''}`;
      runs.push(...(await this.select(tail, [dataset, state, part ?? '', limit], tx)));
    }
    return runs.sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, limit);
  }

  /**
   * Returns the runs of a data set and part that have changed users since the given time, newest first. Omits reverts
   * and reverted runs.
   * @param excludedId id of another run to omit.
   */
  async listAppliedSince({ dataset, part }: UserScope, time: string, excludedId: string) {
    const rows = await this.database.query<Pick<ImportRunEntity, 'guards' | 'approved'>>(
      `SELECT guards, approved FROM import_runs
       WHERE dataset = ? AND COALESCE(part, '') = ? AND finished >= ? AND id <> ? AND reverts IS NULL AND applied_batches > 0
       AND id NOT IN (SELECT reverts FROM import_runs WHERE dataset = ? AND reverts IS NOT NULL AND applied_batches > 0)
       ORDER BY id DESC`,
      [dataset, part ?? '', time, excludedId, dataset],
    );
    return rows.map(({ guards, approved }) => ({
      approved: approved === 1,
      guards: guards === null ? [] : fromJson(guards),
    }));
  }

  async hasFile({ dataset, part }: UserScope, sha256: string, states: readonly RunState[]): Promise<boolean> {
    const ids = await this.selectIds(
      `WHERE dataset = ? AND state IN (${toPlaceholders(states.length)}) AND reverts IS NULL
       AND file_sha256 = ? AND COALESCE(part, '') = ? LIMIT 1`,
      [dataset, ...states, sha256, part ?? ''],
    );
    return ids.length > 0;
  }

  /** Returns the reverts in a data set that have changed users and were not reverted themselves, newest first. */
  async listReverts(dataset: string, limit: number): Promise<ImportRun[]> {
    // Without the hint, SQLite would read all runs of the data set.
    const hint = indexHintOf(this.database, 'ix_import_runs_reverts');
    return this.select(
      `${hint} WHERE dataset = ? AND reverts IS NOT NULL AND applied_batches > 0 AND finished IS NOT NULL
       AND id NOT IN
         (SELECT reverts FROM import_runs${hint} WHERE dataset = ? AND reverts IS NOT NULL AND applied_batches > 0)
       ORDER BY id DESC LIMIT ?`,
      [dataset, dataset, limit],
    );
  }

  /**
   * Returns runs without an alert that wait for approval, or that failed or lost their credential.
   * @param since start of the period in which runs must have ended.
   */
  async listWithoutAlert(since: DbTime, limit: number): Promise<ImportRun[]> {
    return this.select(
      `WHERE state IN ('needs_approval', 'failed', 'cancelled') AND alerted IS NULL AND (finished IS NULL OR finished >= ?)
       AND (state <> 'cancelled' OR reason LIKE ?) ORDER BY id LIMIT ?`,
      [since, `%"code":"${CREDENTIAL_REVOKED}"%`, limit],
    );
  }

  async listRevertsOf(id: string, sql?: Sql): Promise<ImportRun[]> {
    return this.select('WHERE reverts = ? ORDER BY id', [id], sql);
  }

  async update(sql: Sql, id: string, change: RunChange): Promise<void> {
    await this.updateState(sql, id, change);
  }

  /** Updates a run and its state. Only `RunTransitions` may call this. */
  async updateState(sql: Sql, id: string, change: RunChange & StateChange): Promise<void> {
    const columns = toColumns(change);
    const names = Object.keys(columns).map((name) => `${name} = ?`);
    if (names.length === 0) return;
    const params = [...Object.values(columns), id];
    await sql.execute(`UPDATE import_runs SET ${names.join(', ')} WHERE id = ?`, params);
  }

  /**
   * Returns the time when an import of each data set and part last completed, the newest time first. Omits untrusted
   * times.
   */
  async listLastCompletions(): Promise<{ dataset: string; part: string | null; finished: DbTime }[]> {
    return this.database.query(
      `SELECT dataset, part, MAX(finished) AS finished FROM import_runs WHERE dry_run = 0 AND reverts IS NULL AND bulk IS NULL
       AND corrects IS NULL AND finished <= ? AND state IN (${toPlaceholders(COMPLETED.length)})
       GROUP BY dataset, part ORDER BY finished DESC`,
      [computeLatestTrustedTime(), ...COMPLETED],
    );
  }

  /** Returns the ids of the newest run and of the newest completed run of each data set, sorted by data set. */
  async listNewestByDataset(
    limit: number,
  ): Promise<{ dataset: string; last: string; completed: string | null }[]> {
    return this.database.query(
      `SELECT dataset, MAX(id) AS last, MAX(CASE WHEN state IN (${toPlaceholders(COMPLETED.length)}) THEN id END) AS completed
       FROM import_runs WHERE dataset > '' GROUP BY dataset ORDER BY dataset LIMIT ?`,
      [...COMPLETED, limit],
    );
  }

  async countByState(states: readonly RunState[]): Promise<ReadonlyMap<RunState, number>> {
    const sql = `SELECT state, COUNT(*) AS count FROM import_runs WHERE state IN (${toPlaceholders(states.length)}) GROUP BY state`;
    const rows = await this.database.query<{ state: RunState; count: number }>(sql, states);
    return new Map(rows.map(({ state, count }) => [state, count]));
  }

  async listByState(
    state: RunState,
    after: string,
    limit: number,
  ): Promise<{ id: string; starter: Actor }[]> {
    const rows = await this.database.query<Pick<ImportRunEntity, 'id' | 'actor_kind' | 'actor_id'>>(
      'SELECT id, actor_kind, actor_id FROM import_runs WHERE state = ? AND id > ? ORDER BY id LIMIT ?',
      [state, after, limit],
    );
    return rows.map(({ id, actor_kind, actor_id }) => ({ id, starter: toRunActor(actor_kind, actor_id) }));
  }

  async listWaitingSince(time: string, limit: number): Promise<string[]> {
    const where = `state IN (${toPlaceholders(WAITING.length)}) AND created < ?`;
    return this.selectIds(`WHERE ${where} ORDER BY state, id LIMIT ?`, [...WAITING, time, limit]);
  }

  async listFinishedBefore(time: string, limit: number): Promise<string[]> {
    return this.selectIds('WHERE finished < ? ORDER BY id LIMIT ?', [time, limit]);
  }

  async delete(tx: Sql, id: string): Promise<void> {
    await tx.execute('DELETE FROM import_runs WHERE id = ?', [id]);
  }
}
