import { type Actor, DEFAULT_PROFILE, NO_RIGHTS } from '../../access/actor.js';
import { fromJson, toJson } from '../../platform/common/json.js';
import type { ImportRun, RunChange, StateChange } from './import-run.js';
import type { ImportRunEntity } from './import.entity.js';

/** What guards of older runs lack. */
const OLD_GUARD = { field: null, examples: [], hint: '' };

/** The run of a database row. */
export function toRun(row: ImportRunEntity): ImportRun {
  return {
    id: row.id,
    state: row.state,
    dryRun: row.dry_run === 1,
    dataset: row.dataset,
    options: fromJson(row.options),
    profile: row.profile && fromJson(row.profile),
    reverts: row.reverts,
    file: { name: row.file_name, size: row.file_size, sha256: row.file_sha256 },
    caller: { actor: toActor(row.actor_kind, row.actor_id), requestId: row.request_id, ip: row.ip },
    approver: row.approver_kind === null ? null : toActor(row.approver_kind, row.approver_id),
    created: row.created,
    started: row.started,
    finished: row.finished,
    alerted: row.alerted,
    rowsDone: row.rows_done,
    rowsTotal: row.rows_total,
    percent: row.percent,
    phasePercent: row.phase_percent,
    phaseStarted: row.phase_started,
    counts: row.counts && fromJson(row.counts),
    missing: { reported: row.missing_reported, blocked: row.missing_blocked },
    guards: row.guards ? fromJson(row.guards).map((guard) => ({ ...OLD_GUARD, ...guard })) : [],
    reason: row.reason && fromJson(row.reason),
    header: row.header ? fromJson(row.header) : [],
    lineEnded: row.line_ended === null ? null : row.line_ended === 1,
    planHash: row.plan_hash,
    batches: row.batches,
    appliedBatches: row.applied_batches,
    approved: row.approved === 1,
    cancel: row.cancel === 1,
  };
}

/** Without the rights and roles that the actor has, which are looked up when they are needed. */
export function toActor(kind: string, id: string | null): Actor {
  if (kind === 'system' || id === null) return { kind: 'system', id: null };
  if (kind === 'key')
    return {
      kind,
      id,
      rights: NO_RIGHTS,
      family: id,
      ignoresUnknownFields: false,
      profile: DEFAULT_PROFILE,
    };
  return { kind: 'user', id, username: '', roles: [], sessionId: '' };
}

/** The database row of a new run. */
export function toRow(run: ImportRun): ImportRunEntity {
  const { actor, requestId, ip } = run.caller;
  return {
    id: run.id,
    dataset: run.dataset,
    part: run.options.part ?? null,
    options: toJson(run.options),
    profile: run.profile && toJson(run.profile),
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
  };
}

type Fixed =
  | 'id'
  | 'dataset'
  | 'part'
  | 'options'
  | 'profile'
  | 'reverts'
  | `file_${string}`
  | `actor_${string}`
  | 'request_id'
  | 'ip'
  | 'created';
type Columns = Omit<ImportRunEntity, Fixed>;
type Changed<T> = { [K in keyof T]: T[K] | undefined };

/** The columns that a change sets; undefined for those that stay. */
export function toColumns(run: Required<RunChange & StateChange>): Columns;
export function toColumns(change: RunChange & StateChange): Changed<Columns>;
export function toColumns(change: RunChange & StateChange): Changed<Columns> {
  const { missing, counts, guards, reason, header, approver } = change;
  return {
    state: change.state,
    dry_run: toFlag(change.dryRun),
    started: change.started,
    finished: change.finished,
    alerted: change.alerted,
    rows_done: change.rowsDone,
    rows_total: change.rowsTotal,
    percent: change.percent,
    phase_percent: change.phasePercent,
    phase_started: change.phaseStarted,
    counts: counts && toJson(counts),
    missing_reported: missing?.reported,
    missing_blocked: missing?.blocked,
    guards: guards && toJson(guards),
    reason: reason && toJson(reason),
    header: header && toJson(header),
    line_ended: change.lineEnded === null ? null : toFlag(change.lineEnded),
    plan_hash: change.planHash,
    batches: change.batches,
    applied_batches: change.appliedBatches,
    approved: toFlag(change.approved),
    approver_kind: approver === null ? null : approver?.kind,
    approver_id: approver === null ? null : approver?.id,
    cancel: toFlag(change.cancel),
  };
}

const toFlag = (value: boolean | undefined): number | undefined =>
  value === undefined ? value : Number(value);
