import { type Actor, type Caller, DEFAULT_PROFILE, NO_RIGHTS } from '../../access/actor.js';
import { type JsonText, fromJson, toJson } from '../../platform/common/json.js';
import { now, toMillis } from '../../platform/common/time.js';
import type { SqlValue } from '../../platform/database/engine/sql.js';
import type { UserScope } from '../../users/search/user-scope.js';
import type { Guard } from './import-guard.js';
import type { RunOptions } from './import-options.js';
import type { NamedProfile } from './import-profile.js';
import { ImportRunEntity } from './import.entity.js';

/** Columns that contain JSON in the database, and decoded values in a run. */
const JSON_COLUMNS = [
  'options',
  'profile',
  'counts',
  'guards',
  'reason',
  'header',
  'words',
  'bulk',
  'causes',
  'senders',
] as const;
/** Columns that contain 0 or 1 in the database, and booleans in a run. */
const FLAGS = ['dry_run', 'line_ended', 'approved', 'cancel'] as const;

type ValueOf<K, V> =
  V extends JsonText<infer T> ? T : K extends (typeof FLAGS)[number] ? (V extends number ? boolean : V) : V;
type Values<E> = { [K in keyof E]: ValueOf<K, E[K]> };
type ActorColumn = `${'actor' | 'approver'}_${'kind' | 'id'}`;

/** A run with the decoded values of its database row. Its times have the format of the database. */
export interface ImportRun extends Values<Omit<ImportRunEntity, ActorColumn | 'guards' | 'header'>> {
  guards: Guard[];
  header: string[];
  /** Actor who sent the file or requested the revert. */
  starter: Actor;
  /** Actor who approved the run or applied its plan, or null without an approval. */
  approver: Actor | null;
}

type FixedColumn =
  'id' | 'dataset' | 'part' | 'options' | 'profile' | 'reverts' | 'corrects' | 'starter' | 'created';
/** Changes to a run that do not affect its state. Only transitions change the state. */
export type RunChange = Partial<Omit<ImportRun, FixedColumn | 'state' | 'finished'>>;
/** Changes to a run that only transitions may make. */
export type StateChange = Partial<
  Pick<ImportRun, 'state' | 'finished' | 'cancel' | 'alerted' | 'phase_started' | 'waited_seconds'>
>;

export function toRun({
  actor_kind: kind,
  actor_id: id,
  approver_kind: approverKind,
  approver_id: approverId,
  ...row
}: ImportRunEntity): ImportRun {
  const values: Record<string, unknown> = { ...row };
  for (const name of JSON_COLUMNS) values[name] = row[name] && fromJson<unknown>(row[name]);
  for (const name of FLAGS) values[name] = row[name] === null ? null : row[name] === 1;
  const { guards, header, ...others } = values as Values<typeof row>;
  return {
    ...others,
    guards: guards ?? [],
    header: header ?? [],
    starter: toRunActor(kind, id),
    approver: approverKind === null ? null : toRunActor(approverKind, approverId),
  };
}

export function toColumns({ starter, approver, ...values }: Partial<ImportRun>): Record<string, SqlValue> {
  const columns: Record<string, SqlValue> = {};
  for (const [name, value] of Object.entries(values)) {
    if (typeof value === 'boolean') columns[name] = Number(value);
    else columns[name] = typeof value === 'object' && value !== null ? toJson(value) : value;
  }
  if (starter) Object.assign(columns, { actor_kind: starter.kind, actor_id: starter.id });
  if (approver === undefined) return columns;
  return { ...columns, approver_kind: approver?.kind ?? null, approver_id: approver?.id ?? null };
}

export const toRunRow = (run: ImportRun): ImportRunEntity => Object.assign({}, EMPTY_ROW, toColumns(run));

/** Returns an actor without rights and roles, which are read from the database when they are needed. */
export function toRunActor(kind: string, id: string | null): Actor {
  if (kind === 'system' || id === null) return { kind: 'system', id: null };
  if (kind === 'key')
    return { kind, id, rights: NO_RIGHTS, ignoresUnknownFields: false, profile: DEFAULT_PROFILE };
  return { kind: 'user', id, username: '', roles: [], sessionId: '' };
}

const EMPTY_ROW = new ImportRunEntity();
const EMPTY = toRun(EMPTY_ROW);

export function createRun(
  file: { runId: string; name: string; size: number; sha256: string },
  options: RunOptions,
  { actor: starter, requestId, ip }: Caller,
  profile: NamedProfile | null = null,
): ImportRun {
  const { dry_run, dataset, part = null, corrects = null } = options;
  return {
    ...EMPTY,
    id: file.runId,
    dry_run,
    dataset,
    part,
    options,
    profile,
    corrects,
    starter,
    ip,
    request_id: requestId,
    created: now(),
    file_name: file.name,
    file_size: file.size,
    file_sha256: file.sha256,
  };
}

export const fileOf = ({ file_name: name, file_size: size, file_sha256: sha256 }: ImportRun) => ({
  name,
  size,
  sha256,
});

export const missingCountsOf = (run: ImportRun) => ({
  reported: run.missing_reported,
  blocked: run.missing_blocked,
});

/** Returns false for a revert and for a bulk change. */
export const hasFile = ({ reverts, bulk }: Pick<ImportRun, 'reverts' | 'bulk'>): boolean =>
  reverts === null && bulk === null;

/**
 * Returns the seconds from the start to the end of a run, without the time in which it waited for decisions. Returns null
 * if the run has not ended.
 */
export function computeDuration({ started, finished, waited_seconds: waited }: ImportRun): number | null {
  if (started === null || finished === null) return null;
  return Math.max(0, (toMillis(finished) - toMillis(started)) / 1000 - waited);
}

/** Returns the changes that the audit records when a run starts. */
export const toStartChanges = (run: ImportRun) => [
  { field: 'dataset', new: run.dataset },
  ...(run.profile === null ? [] : [{ field: 'profile', new: run.profile.name }]),
  { field: 'dry_run', new: run.dry_run },
  ...(run.reverts === null ? [] : [{ field: 'reverts', new: run.reverts }]),
  ...(run.corrects === null ? [] : [{ field: 'corrects', new: run.corrects }]),
  ...(hasFile(run) ? [{ field: 'file', new: fileOf(run) }] : []),
  ...(run.bulk === null
    ? []
    : (['where', 'change'] as const).map((field) => ({ field, new: run.bulk?.[field] }))),
];

/** Returns true if a run for a file has found only unchanged rows. The audit then records only its start. */
export const isUnchanged = ({ counts, reverts, missing_reported: missing }: ImportRun): boolean =>
  reverts === null &&
  missing === 0 &&
  Object.entries(counts ?? { error: 1 }).every(([outcome, rows]) => outcome === 'unchanged' || rows === 0);

/** Returns the changes that the audit records when a run ends. */
export const toResultChanges = (run: ImportRun) => [
  { field: 'state', new: run.state },
  ...(run.counts === null ? [] : [{ field: 'counts', new: run.counts }]),
  ...(run.counts === null ? [] : [{ field: 'missing', new: missingCountsOf(run) }]),
  ...(run.reason === null ? [] : [{ field: 'reason', new: run.reason.code }]),
];

export const userScopeOf = ({ dataset, options }: Pick<ImportRun, 'dataset' | 'options'>): UserScope => ({
  dataset,
  part: options.part ?? null,
});

export function callerOf(run: ImportRun): Caller {
  const { id, starter: initiator, approver, request_id: requestId, ip, bulk } = run;
  const allowsPrivileged = run.options.allow_privileged || run.reverts !== null;
  const reason = run.reverts === null && bulk !== null && { reason: bulk.reason };
  const reverted = run.reverts !== null && bulk === null && { revertedDataset: run.dataset };
  const actor: Actor = { kind: 'import', id, initiator, approver, allowsPrivileged, ...reverted };
  return { actor, requestId, ip, ...reason };
}

/** Cost of applying a changed row, relative to the cost of reading and planning a row. */
const APPLY_COST = 2;

type Progress = Pick<ImportRun, 'percent' | 'rows_done'>;

/**
 * Progress of a run over all its phases. It never decreases, even if the run is planned again. During the planning, the
 * time for applying the changes is estimated from the changes so far.
 */
export class RunProgress {
  private readonly from = this.run.percent / 100;
  private share = this.from;
  private rows_done = this.run.rows_done;

  constructor(
    private readonly run: Pick<ImportRun, 'percent' | 'rows_done' | 'rows_total' | 'dry_run' | 'approved'>,
  ) {}

  /**
   * @param share planned share of the file, 0 to 1.
   * @param rows number of planned rows.
   * @param changes number of planned rows that must be applied.
   */
  recordPlanned(share: number, rows: number, changes: number): Progress {
    const { dry_run: dryRun, approved, rows_total } = this.run;
    const cost = dryRun && !approved ? 0 : (APPLY_COST * changes) / Math.max(1, rows);
    return this.advance(share / (1 + cost), rows_total ?? (share > 0 ? rows / share : 0));
  }

  /**
   * @param share applied share of the changes, 0 to 1. Counts only changes that remained when the phase started, or
   * started again after a crash.
   */
  recordApplied(share: number): Progress {
    return this.advance(share, this.run.rows_total ?? 0);
  }

  private advance(share: number, rows: number): Progress {
    this.share = Math.max(this.share, this.from + (1 - this.from) * share);
    this.rows_done = Math.max(this.rows_done, Math.floor(rows * this.share));
    return { percent: Math.floor(100 * this.share), rows_done: this.rows_done };
  }
}
