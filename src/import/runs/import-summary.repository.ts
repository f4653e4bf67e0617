import { Inject, Injectable } from '@nestjs/common';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import { placeholders } from '../../platform/database/engine/sql.js';
import { toRun } from './import-run.mapping.js';
import { type ImportRun, RUN_STATES, type RunState } from './import-run.js';
import type { ImportRunEntity } from './import.entity.js';

const STATES = RUN_STATES.map((state) => `SELECT '${state}' AS state`).join(' UNION ALL ');

/** Hand-written SQL: each value is one look-up in an index, however many runs there are. */
@Injectable()
export class ImportSummaryRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /** The next data set behind a name that has runs. */
  async nextDataset(name: string): Promise<string | undefined> {
    const row = await this.database.first<{ dataset: string | null }>(
      'SELECT MIN(dataset) AS dataset FROM import_runs WHERE dataset > ?',
      [name],
    );
    return row?.dataset ?? undefined;
  }

  /** The newest run of a data set in each state that there is one in. */
  async newest(dataset: string): Promise<{ state: RunState; id: string }[]> {
    const rows = await this.database.query<{ state: RunState; id: string | null }>(
      `SELECT states.state, (SELECT MAX(r.id) FROM import_runs AS r WHERE r.dataset = ? AND r.state = states.state) AS id
       FROM (${STATES}) AS states`,
      [dataset],
    );
    return rows.flatMap(({ state, id }) => (id === null ? [] : { state, id }));
  }

  async runs(ids: readonly string[]): Promise<ImportRun[]> {
    const rows = await this.database.query<ImportRunEntity>(
      `SELECT * FROM import_runs WHERE id IN (${placeholders(ids.length)})`,
      ids,
    );
    return rows.map(toRun);
  }

  /** How many runs are in each of these states. */
  async countByState(states: readonly RunState[]): Promise<ReadonlyMap<RunState, number>> {
    const rows = await this.database.query<{ state: RunState; count: number }>(
      `SELECT state, COUNT(*) AS count FROM import_runs WHERE state IN (${placeholders(states.length)}) GROUP BY state`,
      states,
    );
    return new Map(rows.map(({ state, count }) => [state, count]));
  }
}
