import type { Actor, Caller } from '../../access/actor.js';
import type { SqlValue } from '../../database/engine/sql.js';
import type { ImportOptions } from './import-options.js';
import type { ImportRunEntity } from './import.entity.js';
import type { Counts, Guard, ImportRun, Reason, RunChange, RunState } from './import-run.js';

const parsed = (json: string | null): unknown => (json === null ? null : JSON.parse(json));

/** The run of a row. */
export function toRun(row: ImportRunEntity): ImportRun {
  return {
    id: row.id,
    state: row.state as RunState,
    dryRun: row.dry_run === 1,
    dataset: row.dataset,
    options: JSON.parse(row.options) as ImportOptions,
    reverts: row.reverts,
    file: { name: row.file_name, size: row.file_size, sha256: row.file_sha256 },
    caller: { actor: toActor(row.actor_kind, row.actor_id), requestId: row.request_id, ip: row.ip },
    created: row.created,
    started: row.started,
    finished: row.finished,
    rowsDone: row.rows_done,
    rowsTotal: row.rows_total,
    percent: row.percent,
    phaseStarted: row.phase_started,
    counts: parsed(row.counts) as Counts | null,
    missing: { reported: row.missing_reported, blocked: row.missing_blocked },
    guards: (parsed(row.guards) as Guard[] | null) ?? [],
    reason: parsed(row.reason) as Reason | null,
    header: (parsed(row.header) as string[] | null) ?? [],
    planHash: row.plan_hash,
    batches: row.batches,
    appliedBatches: row.applied_batches,
    approved: row.approved === 1,
    cancel: row.cancel === 1,
  };
}

function toActor(kind: string, id: string | null): Caller['actor'] {
  if (kind === 'system' || id === null) return { kind: 'system', id: null };
  if (kind === 'key') return { kind, id };
  return { kind: 'user', id, username: '', roles: [], sessionId: '' } satisfies Actor;
}

/** The row of a new run. */
export function toRow(run: ImportRun): ImportRunEntity {
  const { actor, requestId, ip } = run.caller;
  return {
    id: run.id,
    dataset: run.dataset,
    options: JSON.stringify(run.options),
    reverts: run.reverts,
    file_name: run.file.name,
    file_size: run.file.size,
    file_sha256: run.file.sha256,
    actor_kind: actor.kind,
    actor_id: actor.id,
    request_id: requestId,
    ip,
    created: run.created,
    ...toColumns(run),
  } as unknown as ImportRunEntity;
}

const COLUMNS: Readonly<Record<Exclude<keyof RunChange, 'missing'>, string>> = {
  state: 'state',
  dryRun: 'dry_run',
  started: 'started',
  finished: 'finished',
  rowsDone: 'rows_done',
  rowsTotal: 'rows_total',
  percent: 'percent',
  phaseStarted: 'phase_started',
  counts: 'counts',
  guards: 'guards',
  reason: 'reason',
  header: 'header',
  planHash: 'plan_hash',
  batches: 'batches',
  appliedBatches: 'applied_batches',
  approved: 'approved',
  cancel: 'cancel',
};

/** The columns that a change sets. */
export function toColumns({ missing, ...change }: RunChange): Record<string, SqlValue> {
  const columns: Record<string, SqlValue> = {};
  for (const [name, column] of Object.entries(COLUMNS)) {
    const value = change[name as keyof typeof change];
    if (value !== undefined) columns[column] = toValue(value);
  }
  if (missing)
    Object.assign(columns, { missing_reported: missing.reported, missing_blocked: missing.blocked });
  return columns;
}

function toValue(value: string | number | boolean | object | null): SqlValue {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  return typeof value === 'boolean' ? Number(value) : JSON.stringify(value);
}
