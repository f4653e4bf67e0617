import { Get } from '@nestjs/common';
import { Requires } from '../../access/decorators.js';
import { Accepts, CheckedQuery } from '../../platform/http/input.guard.js';
import { ApiController, Doc, describeJson } from '../../platform/openapi/route-docs.js';
import { StatisticsService } from './statistics.service.js';
import { StatisticsDto, StatisticsQuery } from './statistics.view.js';

@ApiController('statistics', 'status')
export class StatisticsController {
  constructor(private readonly statistics: StatisticsService) {}

  @Get()
  @Doc('getStatistics', 'Is all well?', {
    description:
      'Users by status, the last imports, what waits for a decision, keys that expire, and what happened day by day. It costs ' +
      'the same however many users and events there are. A key needs the scope `audit:read`: the audit tells the same, and more.',
    answer: describeJson('The numbers.', StatisticsDto),
  })
  @Requires('statistics.read')
  @Accepts({ query: StatisticsQuery })
  async read(@CheckedQuery() { days, utc_offset: offset }: StatisticsQuery): Promise<StatisticsDto> {
    return this.statistics.read(days, offset);
  }
}
