import { Get } from '@nestjs/common';
import { Requires } from '../../access/decorators.js';
import { Accepts, CheckedQuery } from '../../platform/http/input.guard.js';
import { ApiController, DescribeRoute, describeJson } from '../../platform/openapi/route-docs.js';
import { StatisticsService } from './statistics.service.js';
import { StatisticsDto, StatisticsQuery } from './statistics.view.js';

@ApiController('statistics', 'status')
export class StatisticsController {
  constructor(private readonly statistics: StatisticsService) {}

  @Get()
  @DescribeRoute('getStatistics', 'Get statistics', {
    description:
      'Users by status, the last imports, imports that wait for a decision, API keys that expire soon, and daily counts of events.',
    answer: describeJson('The statistics.', StatisticsDto),
  })
  @Requires('statistics.read')
  @Accepts({ query: StatisticsQuery })
  async read(@CheckedQuery() { days, utc_offset: offset }: StatisticsQuery): Promise<StatisticsDto> {
    return this.statistics.read(days, offset);
  }
}
