import { MAX_DAYS } from '../../audit/audit-counts.service.js';
import { RangeParam } from '../../platform/input/query-rules.js';

export class StatisticsQuery {
  @RangeParam(1, MAX_DAYS, { default: 30, description: 'Days that are listed; today is one of them.' })
  days: number = 30;

  @RangeParam(-12, 14, {
    default: 0,
    description:
      'Whole hours by which the days begin before midnight UTC: 1 for Berlin in winter, -5 for New York.',
  })
  utc_offset: number = 0;
}
