import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Requires } from '../../access/decorators.js';
import { noCounts } from '../../import/runs/import-row.js';
import { type ImportRun, fileOf, missingOf } from '../../import/runs/import-run.js';
import { toIso } from '../../platform/common/time.js';
import { Accepts, CheckedQuery } from '../../platform/http/input.guard.js';
import { DocStatistics, type ImportRunSummaryDto, type StatisticsDto } from './statistics.docs.js';
import { StatisticsQuery } from './statistics.query.js';
import { type Statistics, StatisticsService } from './statistics.service.js';

@ApiTags('status')
@Controller('statistics')
export class StatisticsController {
  constructor(private readonly statistics: StatisticsService) {}

  @Get()
  @DocStatistics()
  @Requires('statistics.read')
  @Accepts({ query: StatisticsQuery })
  async read(@CheckedQuery() { days, utc_offset: offset }: StatisticsQuery): Promise<StatisticsDto> {
    return presentStatistics(await this.statistics.read(days, offset));
  }
}

/** The answer for what was looked up. */
function presentStatistics({ millis, users, imports, keys, ...rest }: Statistics): StatisticsDto {
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
    dry_run: run.dry_run,
    reverts: run.reverts,
    file: fileOf(run),
    created: toIso(run.created),
    finished: run.finished === null ? null : toIso(run.finished),
    counts: run.counts ?? noCounts(),
    missing: missingOf(run),
  };
}
