import { type Actor, type Caller, DEFAULT_PROFILE, NO_RIGHTS } from '../../access/actor.js';
import { type JsonText, fromJson, toJson } from '../../platform/common/json.js';
import { now } from '../../platform/common/time.js';
import type { SqlValue } from '../../platform/database/engine/sql.js';
import type { UserScope } from '../../users/search/user-scope.js';
import type { Guard } from './guard-limits.js';
import type { ImportOptions, NamedProfile } from './import-options.js';
import { ImportRunEntity } from './import.entity.js';

/** Columns that hold JSON, and columns that hold 0 or 1: a run has their values. */
const DOCUMENTS = ['options', 'profile', 'counts', 'guards', 'reason', 'header'] as const;
const FLAGS = ['dry_run', 'line_ended', 'approved', 'cancel'] as const;

type ValueOf<K, V> =
  V extends JsonText<infer T> ? T : K extends (typeof FLAGS)[number] ? (V extends number ? boolean : V) : V;
type Values<E> = { [K in keyof E]: ValueOf<K, E[K]> };
type ActorColumn = `${'actor' | 'approver'}_${'kind' | 'id'}`;

/** A run: the values of its row. Times are as the database writes them. */
export interface ImportRun extends Values<Omit<ImportRunEntity, ActorColumn | 'guards' | 'header'>> {
  guards: Guard[];
  header: string[];
  /** The credential that sent the file. */
  starter: Actor;
  /** The credential that approved the run, or applied its plan. */
  approver: Actor | null;
}

/** What guards of older runs lack. */
const OLD_GUARD = { field: null, examples: [], hint: '' };

type Fixed = 'id' | 'dataset' | 'part' | 'options' | 'profile' | 'reverts' | 'starter' | 'created';
/** What a change of a run may set besides its state, which only transitions change. */
export type RunChange = Partial<Omit<ImportRun, Fixed | 'state' | 'finished'>>;
/** What a transition changes. */
export type StateChange = Partial<Pick<ImportRun, 'state' | 'finished' | 'cancel'>>;

/** The run of a database row. */
export function toRun({
  actor_kind: kind,
  actor_id: id,
  approver_kind: approverKind,
  approver_id: approverId,
  ...row
}: ImportRunEntity): ImportRun {
  const values: Record<string, unknown> = { ...row };
  for (const name of DOCUMENTS) values[name] = row[name] && fromJson<unknown>(row[name]);
  for (const name of FLAGS) values[name] = row[name] === null ? null : row[name] === 1;
  const { guards, header, ...others } = values as Values<typeof row>;
  return {
    ...others,
    guards: (guards ?? []).map((guard) => ({ ...OLD_GUARD, ...guard })),
    header: header ?? [],
    starter: toActor(kind, id),
    approver: approverKind === null ? null : toActor(approverKind, approverId),
  };
}

/** The columns of a run, or of a change of one. */
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

/** The database row of a run. */
export const toRow = (run: ImportRun): ImportRunEntity => Object.assign({}, EMPTY_ROW, toColumns(run));

/** Without the rights and roles that the actor has, which are looked up when they are needed. */
export function toActor(kind: string, id: string | null): Actor {
  if (kind === 'system' || id === null) return { kind: 'system', id: null };
  if (kind === 'key')
    return { kind, id, rights: NO_RIGHTS, ignoresUnknownFields: false, profile: DEFAULT_PROFILE };
  return { kind: 'user', id, username: '', roles: [], sessionId: '' };
}

const EMPTY_ROW = new ImportRunEntity();
const EMPTY = toRun(EMPTY_ROW);

/** A queued run. */
export function newRun(
  file: { runId: string; name: string; size: number; sha256: string },
  options: ImportOptions,
  { actor: starter, requestId, ip }: Caller,
  profile: NamedProfile | null = null,
): ImportRun {
  const { dry_run, dataset, part = null } = options;
  return {
    ...EMPTY,
    id: file.runId,
    ...{ dry_run, dataset, part, options, profile, starter, ip, request_id: requestId, created: now() },
    file_name: file.name,
    file_size: file.size,
    file_sha256: file.sha256,
  };
}

/** The file of a run, as clients and the audit see it. */
export const fileOf = ({ file_name: name, file_size: size, file_sha256: sha256 }: ImportRun) => ({
  name,
  size,
  sha256,
});

/** The users that the file of a run lacks, as clients and the audit see them. */
export const missingOf = (run: ImportRun) => ({
  reported: run.missing_reported,
  blocked: run.missing_blocked,
});

/** Returns the audit's changes for the start of a run. */
export const startOf = (run: ImportRun) => [
  { field: 'dataset', new: run.dataset },
  ...(run.profile === null ? [] : [{ field: 'profile', new: run.profile.name }]),
  { field: 'dry_run', new: run.dry_run },
  ...(run.reverts === null ? [] : [{ field: 'reverts', new: run.reverts }]),
  { field: 'file', new: fileOf(run) },
];

/** Returns the audit's changes for the end of a run. */
export const resultOf = (run: ImportRun) => [
  { field: 'state', new: run.state },
  ...(run.counts === null ? [] : [{ field: 'counts', new: run.counts }]),
  ...(run.counts === null ? [] : [{ field: 'missing', new: missingOf(run) }]),
  ...(run.reason === null ? [] : [{ field: 'reason', new: run.reason.code }]),
];

/** The users whom a run looks after. */
export const userScopeOf = ({ dataset, options }: Pick<ImportRun, 'dataset' | 'options'>): UserScope => ({
  dataset,
  part: options.part ?? null,
});

/** A run as the caller of its changes. */
export const callerOf = ({ id, starter, approver, request_id: requestId, ip }: ImportRun): Caller => ({
  actor: { kind: 'import', id, initiator: starter, approver },
  requestId,
  ip,
});

/** What it costs to apply a row, where reading and planning one costs 1. */
const APPLY_COST = 2;

type Progress = Pick<ImportRun, 'percent' | 'rows_done'>;

/**
 * How far a run is, over all its phases: from where it was when the phase began, up to 100. It never goes back, neither
 * when the next phase begins, nor when a plan is made again after a kill or for an approval. `rows_done` is the same share
 * of the rows. While a file is planned, the share of the plan in the whole is estimated from the changes so far: all of
 * it for a dry run, nearly all for a file that changes little.
 */
export class RunProgress {
  private share: number;
  private rows_done: number;
  private readonly from: number;

  constructor(
    private readonly run: Pick<ImportRun, 'percent' | 'rows_done' | 'rows_total' | 'dry_run' | 'approved'>,
  ) {
    this.from = run.percent / 100;
    this.share = this.from;
    this.rows_done = run.rows_done;
  }

  /** @param share of the file that is planned, 0 to 1. @param rows in it. @param changes of them that are to be applied. */
  planned(share: number, rows: number, changes: number): Progress {
    const { dry_run: dryRun, approved, rows_total } = this.run;
    const cost = dryRun && !approved ? 0 : (APPLY_COST * changes) / Math.max(1, rows);
    return this.reach(share / (1 + cost), rows_total ?? (share > 0 ? rows / share : 0));
  }

  /** @param share of the changes that were to be applied when the phase began, or went on after a kill. */
  applied(share: number): Progress {
    return this.reach(share, this.run.rows_total ?? 0);
  }

  private reach(share: number, rows: number): Progress {
    this.share = Math.max(this.share, this.from + (1 - this.from) * share);
    this.rows_done = Math.max(this.rows_done, Math.floor(rows * this.share));
    return { percent: Math.floor(100 * this.share), rows_done: this.rows_done };
  }
}
