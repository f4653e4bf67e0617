import { findUserNames } from '../audit/audit-names.service.js';
import { now, toIso, toMillis } from '../platform/common/time.js';
import { ImportOptions } from './runs/import-options.js';
import { type ImportRun, computeDuration, fileOf, missingCountsOf } from './runs/import-run.js';
import { NO_COUNTS, type StagedRow, displayNameOf } from './runs/import-row.js';
import type { User } from '../users/model/user.js';
import type { ImportRowDto, ImportRunDto, ImportRunSummaryDto } from './imports.dto.js';
import { type Visibility, hideInRow, listReasons, presentGuard } from './runs/visible-values.js';

/** Users that a row mentions, such as its manager, by UUID. */
type People = ReadonlyMap<string, User>;

/** Converts a row to its response. `line` is null for a missing user. */
export function presentRow(stored: StagedRow, people: People, visibility: Visibility): ImportRowDto {
  const row = hideInRow(stored, visibility);
  const users: People = visibility === 'all' ? people : new Map();
  return {
    line: row.line > 0 ? row.line : null,
    outcome: row.outcome,
    external_id: row.external_id,
    uuid: row.user_uuid,
    name: displayNameOf(row, users.get(row.user_uuid ?? '')),
    errors: row.errors,
    changes: row.changes.list.map((change) => ({
      field: change.field,
      old: change.old ?? null,
      new: change.new ?? null,
      ...(users.size > 0 && findUserNames(change, (uuid) => users.get(uuid)?.username ?? '')),
    })),
  };
}

/**
 * Converts a run to its response. `problems` contains the reason why the file was rejected or the run ended early, and
 * the errors and warnings of the rows in `problemRows`.
 */
export function presentRun(
  run: ImportRun,
  problemRows: readonly StagedRow[],
  revertedBy: string | null,
  visibility: Visibility = 'none',
): ImportRunDto {
  const { id, state, dry_run, reverts, guards, starter, approver } = run;
  return {
    id,
    state,
    dry_run,
    options: Object.assign(new ImportOptions(), run.options),
    profile: run.profile?.name ?? null,
    guard_limits: run.profile?.guards ?? null,
    reverts,
    reverted_by: revertedBy,
    file: fileOf(run),
    actor: { kind: starter.kind, id: starter.id, address: run.ip },
    approved_by: approver && { kind: approver.kind, id: approver.id },
    created: toIso(run.created),
    started: toIsoOrNull(run.started),
    finished: toIsoOrNull(run.finished),
    duration_seconds: computeDuration(run),
    progress: {
      phase: state,
      rows_done: run.rows_done,
      rows_total: run.rows_total,
      percent: run.percent,
      eta_seconds: estimateEta(run),
    },
    counts: run.counts ?? NO_COUNTS,
    missing: missingCountsOf(run),
    guards: guards.map((guard) => presentGuard(guard, visibility)),
    problems: [
      ...listReasons(run.reason, visibility),
      ...problemRows
        .map((row) => hideInRow(row, visibility))
        .flatMap(({ line, errors }) => errors.map((error) => ({ line: line > 0 ? line : null, ...error }))),
    ],
  };
}

export function presentSummary(run: ImportRun): ImportRunSummaryDto {
  const { id, state, dry_run, reverts, file, created, finished, counts, missing } = presentRun(run, [], null);
  return { id, state, dry_run, reverts, file, created, finished, counts, missing };
}

const toIsoOrNull = (time: string | null): string | null => (time === null ? null : toIso(time));

/**
 * Estimates the seconds until the end of a run from the speed of its current phase. Returns null while the run waits,
 * and before the phase has made progress.
 */
function estimateEta({ state, finished, percent, phase_percent, phase_started }: ImportRun): number | null {
  if (finished !== null || phase_started === null || percent <= phase_percent) return null;
  if (state !== 'validating' && state !== 'applying') return null;
  const spent = (toMillis(now()) - toMillis(phase_started)) / 1000;
  return Math.max(0, Math.round((spent * (100 - percent)) / (percent - phase_percent)));
}
