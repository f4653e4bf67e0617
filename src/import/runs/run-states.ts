import type { AuditAction } from '../../audit/audit-event.js';

/** States of a run (interface §6). */
export const RUN_STATES = [
  'queued',
  'validating',
  'planned',
  'needs_approval',
  'applying',
  'completed',
  'completed_with_errors',
  'failed',
  'cancelled',
  'rejected',
  'superseded',
] as const;
export type RunState = (typeof RUN_STATES)[number];

/** A worker takes these up, in the order of the runs' ids. */
export const RUNNABLE: readonly RunState[] = ['queued', 'validating', 'applying'];
/** An operator decides on these. */
export const WAITING: readonly RunState[] = ['planned', 'needs_approval'];
/** All that could be applied was applied. */
export const COMPLETED: readonly RunState[] = ['completed', 'completed_with_errors'];

/** Nothing changes the run any more. */
export const FINAL: readonly RunState[] = RUN_STATES.filter(
  (state) => !RUNNABLE.includes(state) && !WAITING.includes(state),
);

export interface Transition {
  from: readonly RunState[];
  to: RunState;
  by: 'worker' | 'operator' | 'service';
  /** The audit action, of a transition that the audit records. */
  audit?: AuditAction;
  /** States in which the transition is only requested: the worker carries it out at its next batch. */
  requestedIn?: readonly RunState[];
}

/**
 * Every transition of a run. A worker makes one while it holds the lease of imports, unless an operator has asked the run to
 * stop or a credential of the run was revoked (`Checkpoint`). An operator needs the scope of the data set. The service
 * makes one only while no operator has decided.
 */
export const TRANSITIONS = {
  /** Begins to plan: for the first time, again after a crash, or again after an approval. */
  plan: { from: ['queued', 'validating'], to: 'validating', by: 'worker' },
  /** The plan of a dry run is complete. */
  present: { from: ['validating'], to: 'planned', by: 'worker' },
  /** A guard was hit, and no operator has approved the plan. */
  park: { from: ['validating'], to: 'needs_approval', by: 'worker' },
  /** The plan differs from the one that was approved. */
  invalidate: { from: ['validating'], to: 'superseded', by: 'worker', audit: 'import.superseded' },
  apply: { from: ['validating'], to: 'applying', by: 'worker' },
  complete: { from: ['applying'], to: 'completed', by: 'worker', audit: 'import.completed' },
  completePartly: {
    from: ['applying'],
    to: 'completed_with_errors',
    by: 'worker',
    audit: 'import.completed',
  },
  /** The file was refused, or the service has failed. */
  fail: { from: RUNNABLE, to: 'failed', by: 'worker', audit: 'import.failed' },
  /** An operator has asked for it, a credential was revoked, or the fuse of a key has blown. */
  stop: { from: RUNNABLE, to: 'cancelled', by: 'worker', audit: 'import.cancelled' },
  /** Applies a plan, or approves a parked run. IMPORT_FOUR_EYES may ask for another person. */
  approve: { from: WAITING, to: 'queued', by: 'operator', audit: 'import.approved' },
  reject: { from: WAITING, to: 'rejected', by: 'operator', audit: 'import.rejected' },
  cancel: {
    from: [...RUNNABLE, ...WAITING],
    to: 'cancelled',
    by: 'operator',
    audit: 'import.cancelled',
    requestedIn: ['validating', 'applying'],
  },
  /** A newer run of the data set has a plan. */
  replace: { from: ['needs_approval'], to: 'superseded', by: 'service', audit: 'import.superseded' },
  /** No operator has decided within IMPORT_RETENTION_DAYS. */
  lapse: { from: WAITING, to: 'superseded', by: 'service', audit: 'import.superseded' },
  /** The credential that started the run was revoked. */
  disown: { from: WAITING, to: 'cancelled', by: 'service', audit: 'import.cancelled' },
} as const satisfies Record<string, Transition>;
export type TransitionName = keyof typeof TRANSITIONS;

/** Why a file is refused, or a run failed. */
export interface Reason {
  code: string;
  message: string;
  line?: number;
  /** What else is wrong with the file. */
  others?: { code: string; message: string; line?: number | undefined }[];
}
