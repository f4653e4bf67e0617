import type { Actor } from '../access/actor.js';
import { type NameResolver, findUserNames } from '../audit/audit-names.service.js';
import { now, toIso, toIsoOrNull, toMillis } from '../platform/common/time.js';
import { RunOptions } from './runs/import-options.js';
import { type ImportRun, computeDuration, fileOf, missingCountsOf } from './runs/import-run.js';
import { MAX_VALUE, NO_COUNTS, type RowError, displayNameOf, formatName } from './runs/import-row.js';
import { truncate } from '../platform/common/text.js';
import { readRow } from './file/file-row.js';
import { mapHeader } from './file/run-files.js';
import type { StoredRow } from './runs/import-rows.repository.js';
import type { People } from './runs/run-people.service.js';
import type { ImportRowDto, ImportRunDto } from './imports.dto.js';
import { type Visibility, hideInRow, listReasons, presentGuard } from './runs/visible-values.js';

/**
 * Creates a function that converts rows of a run to their responses. `line` is null for a missing user.
 * @param people users that the rows mention.
 */
export function createRowPresenter(
  run: Pick<ImportRun, 'header' | 'profile' | 'created'>,
  people: People,
  visibility: Visibility,
) {
  const { header, profile, created } = run;
  const options = { ignore_unknown_columns: true, today: created.slice(0, 10) };
  const { columns, mapRecord } = mapHeader(header, options, profile);
  /** Reads the cells of a failed row. Returns undefined if they are not stored or do not fit the header. */
  const readCells = ({ line, cells }: StoredRow) =>
    cells.length > 0 && cells.length === header.length
      ? readRow(mapRecord({ line, cells }), columns, 'clear')
      : undefined;
  const users: People = visibility === 'all' ? people : new Map();
  return (stored: StoredRow): ImportRowDto => {
    const row = hideInRow(stored, visibility);
    const fields = row.outcome === 'error' && visibility !== 'none' ? readCells(stored) : undefined;
    return {
      line: row.line > 0 ? row.line : null,
      outcome: row.outcome,
      external_id: row.external_id,
      uuid: row.user_uuid,
      name: displayNameOf(row, users.get(row.user_uuid ?? ''), fields?.raw),
      errors: row.errors.map((error) => describeError(error, fields?.cells, users)),
      changes: row.changes.list.map((change) => ({
        field: change.field,
        old: change.old ?? null,
        new: change.new ?? null,
        ...(users.size > 0 && findUserNames(change, (uuid) => users.get(uuid)?.username ?? '')),
      })),
    };
  };
}

/** Adds the refused cell and the names of the conflicting user to an error. */
function describeError(
  error: RowError,
  cells: ReadonlyMap<string, string> | undefined,
  people: People,
): RowError {
  const { field, uuid = '', value = cells?.get(field.split('.')[0] ?? '') } = error;
  const user = people.get(uuid);
  const shown = value === undefined ? error : { ...error, value: truncate(value, MAX_VALUE) };
  if (!user) return shown;
  const { username } = user;
  const name = formatName(user);
  const message = error.message.replace(`user ${uuid}`, `user ${username} (${name}, ${uuid})`);
  return { ...shown, message, user: { username, name } };
}

interface RunDetails {
  problemRows: readonly StoredRow[];
  /** Users that the problem rows mention. */
  people: People;
  revertedBy: string | null;
  nameOf: NameResolver;
  visibility: Visibility;
}

/**
 * Converts a run to its response. `problems` contains the reason why the file was rejected or the run ended early, and
 * the errors and warnings of the rows in `problemRows`.
 */
export function presentRun(
  run: ImportRun,
  { problemRows, people, revertedBy, nameOf, visibility }: RunDetails,
): ImportRunDto {
  const presentRow = createRowPresenter(run, people, visibility);
  const presentActor = ({ kind, id }: Actor) => ({
    kind,
    id,
    name: visibility === 'all' ? nameOf({ kind, id }) : '',
  });
  const { state, guards, starter, approver, bulk } = run;
  return {
    ...presentSummary(run),
    options: Object.assign(new RunOptions(), run.options),
    profile: run.profile?.name ?? null,
    guard_limits: run.profile?.guards ?? null,
    created_blocked: run.created_blocked,
    reverted_by: revertedBy,
    corrects: run.corrects,
    where: bulk?.where ?? null,
    change: bulk?.change ?? null,
    reason: bulk?.reason ?? null,
    actor: { ...presentActor(starter), address: run.ip },
    approved_by: approver && presentActor(approver),
    started: toIsoOrNull(run.started),
    duration_seconds: computeDuration(run),
    progress: {
      phase: state,
      rows_done: run.rows_done,
      rows_total: run.rows_total,
      percent: run.percent,
      eta_seconds: estimateEta(run),
    },
    guards: guards.map((guard) => presentGuard(guard, visibility)),
    causes: run.causes ?? [],
    problems: [
      ...listReasons(run.reason, visibility),
      ...problemRows
        .map(presentRow)
        .flatMap(({ line, external_id, name, errors }) =>
          errors.map((error) => Object.assign({ line, external_id, name }, error)),
        ),
    ],
  };
}

export function presentSummary(run: ImportRun) {
  const { id, state, dry_run, reverts } = run;
  return {
    ...{ id, state, dry_run, reverts, file: fileOf(run), applied: run.applied_batches > 0 },
    created: toIso(run.created),
    finished: toIsoOrNull(run.finished),
    counts: run.counts ?? NO_COUNTS,
    missing: missingCountsOf(run),
  };
}

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
