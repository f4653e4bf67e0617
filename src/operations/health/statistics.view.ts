import { toIso } from '../../platform/common/time.js';
import { type ImportRun, noCounts } from '../../import/runs/import-run.js';
import type { ImportRunSummaryDto, StatisticsDto } from './statistics.docs.js';
import type { Statistics } from './statistics.service.js';

/** The answer for what was looked up. */
export function presentStatistics({ millis, users, imports, keys, ...rest }: Statistics): StatisticsDto {
  const { overdue, open, datasets } = imports;
  return {
    time: new Date(millis).toISOString(),
    users,
    imports: {
      ...(overdue !== undefined && { overdue }),
      ...open,
      datasets: datasets.map(({ dataset, last_run, last_completed }) => ({
        dataset,
        last_run: presentSummary(last_run),
        ...(last_completed && { last_completed: presentSummary(last_completed) }),
      })),
    },
    api_keys: {
      expiring: keys.expiring.map(({ id, name, expires }) => ({ id, name, expires: toIso(expires ?? '') })),
      fuses_blown: keys.fusesBlown,
    },
    failed_logins: { last_24_hours: rest.failedLogins.count, exact: rest.failedLogins.exact },
    days: rest.days,
  };
}

function presentSummary(run: ImportRun): ImportRunSummaryDto {
  return {
    id: run.id,
    state: run.state,
    dry_run: run.dryRun,
    reverts: run.reverts,
    file: run.file,
    created: toIso(run.created),
    finished: run.finished === null ? null : toIso(run.finished),
    counts: run.counts ?? noCounts(),
    missing: run.missing,
  };
}
