import type { Actor, Caller } from '../../access/actor.js';
import { now } from '../../platform/common/time.js';
import type { RunState } from './run-states.js';
import type { UserScope } from '../../users/search/user-scope.js';
import type { ImportOptions, NamedProfile } from './import-options.js';

/** Fates of a row; they add up to the rows of the file. */
export const ROW_OUTCOMES = [
  'created',
  'updated',
  'unchanged',
  'blocked',
  'reactivated',
  'skipped',
  'error',
] as const;
export type RowOutcome = (typeof ROW_OUTCOMES)[number];

export type Counts = Record<RowOutcome, number>;

export const noCounts = (): Counts => ({
  created: 0,
  updated: 0,
  unchanged: 0,
  blocked: 0,
  reactivated: 0,
  skipped: 0,
  error: 0,
});

/** Why a file is refused, or a run failed. */
export interface Reason {
  code: string;
  message: string;
  line?: number;
  /** What else is wrong with the file. */
  others?: { code: string; message: string; line?: number | undefined }[];
}

/** Rows that a guard shows. */
export const MAX_EXAMPLES = 5;

/** A row that shows an operator what a guard has found. Values are cut; a secret is never one. */
export interface GuardExample {
  /** As a spreadsheet shows it (header = 1); null for a user that the file lacks. */
  line: number | null;
  external_id: string;
  old: unknown;
  new: unknown;
}

/** A number of a plan beside its limit. A hit parks the run before the first write. */
export interface Guard {
  name: string;
  /** Wire name of the field that it is about; null where it is about the whole plan. */
  field: string | null;
  value: number;
  /** The greatest value that passes; of `shrunken_file` the least one. */
  limit: number;
  hit: boolean;
  /** Up to five rows, of a hit. */
  examples: GuardExample[];
  /** What a hit usually means, in one sentence. */
  hint: string;
}

/** A run with its documents opened. Times as the database writes them. */
export interface ImportRun {
  id: string;
  state: RunState;
  dryRun: boolean;
  dataset: string;
  options: ImportOptions;
  /** The profile of the file as it was when the run was made; null for none. */
  profile: NamedProfile | null;
  reverts: string | null;
  file: { name: string; size: number; sha256: string };
  /** Who sent it; changes of users are recorded as the run's own. */
  caller: Caller;
  /** Who approved it, or applied its plan; null while nobody has. */
  approver: Actor | null;
  created: string;
  started: string | null;
  finished: string | null;
  /** When operators were told that it waits for them. */
  alerted: string | null;
  rowsDone: number;
  rowsTotal: number | null;
  /** Of the whole run; it never goes back. */
  percent: number;
  /** `percent` where the current phase began. */
  phasePercent: number;
  phaseStarted: string | null;
  counts: Counts | null;
  missing: { reported: number; blocked: number };
  guards: Guard[];
  reason: Reason | null;
  /** Header of the file, where rows of it have failed. */
  header: string[];
  /** Whether the last line of the file has a line end; null until the file has been read to its end. */
  lineEnded: boolean | null;
  planHash: string | null;
  batches: number;
  appliedBatches: number;
  approved: boolean;
  cancel: boolean;
}

/** What a change of a run may set besides its state, which only transitions change. */
export type RunChange = Partial<
  Omit<
    ImportRun,
    | 'id'
    | 'state'
    | 'dataset'
    | 'options'
    | 'profile'
    | 'reverts'
    | 'file'
    | 'caller'
    | 'created'
    | 'finished'
  >
>;

/** What a transition changes. */
export type StateChange = Partial<Pick<ImportRun, 'state' | 'finished' | 'cancel'>>;

/** What the audit says of the start of a run. */
export const startOf = ({ dataset, dryRun, profile, reverts, file }: ImportRun) => [
  { field: 'dataset', new: dataset },
  ...(profile === null ? [] : [{ field: 'profile', new: profile.name }]),
  { field: 'dry_run', new: dryRun },
  ...(reverts === null ? [] : [{ field: 'reverts', new: reverts }]),
  { field: 'file', new: file },
];

/** What the audit says of the end of a run. */
export const resultOf = ({ state, counts, missing, reason }: ImportRun) => [
  { field: 'state', new: state },
  ...(counts === null ? [] : [{ field: 'counts', new: counts }]),
  ...(counts === null ? [] : [{ field: 'missing', new: missing }]),
  ...(reason === null ? [] : [{ field: 'reason', new: reason.code }]),
];

/** A run before its turn. */
export function newRun(
  file: ImportRun['file'] & { runId: string },
  options: ImportOptions,
  caller: Caller,
  profile: NamedProfile | null = null,
): ImportRun {
  return {
    id: file.runId,
    state: 'queued',
    dryRun: options.dry_run,
    dataset: options.dataset,
    options,
    profile,
    reverts: null,
    file: { name: file.name, size: file.size, sha256: file.sha256 },
    caller,
    approver: null,
    created: now(),
    started: null,
    finished: null,
    alerted: null,
    rowsDone: 0,
    rowsTotal: null,
    percent: 0,
    phasePercent: 0,
    phaseStarted: null,
    counts: null,
    missing: { reported: 0, blocked: 0 },
    guards: [],
    reason: null,
    header: [],
    lineEnded: null,
    planHash: null,
    batches: 0,
    appliedBatches: 0,
    approved: false,
    cancel: false,
  };
}

/** The users whom a run looks after. */
export const userScopeOf = ({ dataset, options }: Pick<ImportRun, 'dataset' | 'options'>): UserScope => ({
  dataset,
  part: options.part ?? null,
});

/** A run as the caller of its changes. */
export function callerOf({ id, caller, approver }: ImportRun): Caller {
  return { ...caller, actor: { kind: 'import', id, initiator: caller.actor, approver } };
}
