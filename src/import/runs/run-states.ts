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

/** States in which a run waits for a worker or is in progress. */
export const RUNNABLE: readonly RunState[] = ['queued', 'validating', 'applying'];
/** States in which a run waits for the decision of an operator. */
export const WAITING: readonly RunState[] = ['planned', 'needs_approval'];
/** States of a run that has applied every row that could be applied. */
export const COMPLETED: readonly RunState[] = ['completed', 'completed_with_errors'];

export const FINAL: readonly RunState[] = RUN_STATES.filter(
  (state) => !RUNNABLE.includes(state) && !WAITING.includes(state),
);

export interface Transition {
  from: readonly RunState[];
  to: RunState;
  by: 'worker' | 'operator' | 'service';
  audit?: AuditAction;
  /** States in which the transition only requests that the worker stops the run. */
  requestedIn?: readonly RunState[];
}

/**
 * All transitions between the states of a run. A worker must hold the lease of imports. An operator needs the scope of
 * the data set. The service itself changes only runs that wait for a decision.
 */
export const TRANSITIONS = {
  /** The planning begins, or begins again after a crash or an approval. */
  plan: { from: ['queued', 'validating'], to: 'validating', by: 'worker' },
  /** The plan of a dry run is complete. */
  present: { from: ['validating'], to: 'planned', by: 'worker' },
  /** A guard has tripped, and no operator has approved the plan. */
  park: { from: ['validating'], to: 'needs_approval', by: 'worker' },
  /** The plan differs from the plan that was approved. */
  invalidate: { from: ['validating'], to: 'superseded', by: 'worker', audit: 'import.superseded' },
  apply: { from: ['validating'], to: 'applying', by: 'worker' },
  /** All rows are applied, or the plan changes nothing. */
  complete: { from: ['validating', 'applying'], to: 'completed', by: 'worker', audit: 'import.completed' },
  completePartly: {
    from: ['applying'],
    to: 'completed_with_errors',
    by: 'worker',
    audit: 'import.completed',
  },
  /** The file was rejected, or an internal error occurred. */
  fail: { from: RUNNABLE, to: 'failed', by: 'worker', audit: 'import.failed' },
  /** An operator has requested to stop the run, a credential was revoked, or the fuse of a key has blown. */
  stop: { from: RUNNABLE, to: 'cancelled', by: 'worker', audit: 'import.cancelled' },
  /** An operator applies a plan or approves a parked run. IMPORT_FOUR_EYES may require another person. */
  approve: { from: WAITING, to: 'queued', by: 'operator', audit: 'import.approved' },
  reject: { from: WAITING, to: 'rejected', by: 'operator', audit: 'import.rejected' },
  cancel: {
    from: [...RUNNABLE, ...WAITING],
    to: 'cancelled',
    by: 'operator',
    audit: 'import.cancelled',
    requestedIn: ['validating', 'applying'],
  },
  /** A newer run of the same data set and part replaces the plan. */
  replace: { from: ['needs_approval'], to: 'superseded', by: 'service', audit: 'import.superseded' },
  /** No operator has decided within IMPORT_RETENTION_DAYS. */
  lapse: { from: WAITING, to: 'superseded', by: 'service', audit: 'import.superseded' },
  /** The credential that started the run was revoked. */
  disown: { from: WAITING, to: 'cancelled', by: 'service', audit: 'import.cancelled' },
} as const satisfies Record<string, Transition>;
export type TransitionName = keyof typeof TRANSITIONS;

/** Code of the reason of a run whose starter or approver has lost the required rights. */
export const CREDENTIAL_REVOKED = 'credential_revoked';

/** Reason why a file was rejected or a run ended early. */
export interface Reason {
  code: string;
  message: string;
  line?: number | undefined;
  others?: readonly Omit<Reason, 'others'>[];
}
