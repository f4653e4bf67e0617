import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Requires } from '../../access/decorators.js';
import { Accepts, CheckedQuery } from '../../platform/http/input.guard.js';
import { DocStatistics, type StatisticsDto } from './statistics.docs.js';
import { StatisticsQuery } from './statistics.query.js';
import { StatisticsService } from './statistics.service.js';
import { presentStatistics } from './statistics.view.js';

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
