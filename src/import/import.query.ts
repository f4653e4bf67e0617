import { ApiPropertyOptional } from '@nestjs/swagger';
import { Page } from '../http/page.js';
import { BooleanParam, ChoicesParam, MAX_REPEATS, PatternParam } from '../input/query-rules.js';
import { ROW_OUTCOMES, RUN_STATES } from './runs/import-run.js';

const LISTED_OUTCOMES = [...ROW_OUTCOMES, 'missing'];

export class RunsQuery extends Page {
  @ApiPropertyOptional({
    enum: RUN_STATES,
    isArray: true,
    maxItems: MAX_REPEATS,
    description: 'May be repeated.',
  })
  @ChoicesParam(RUN_STATES)
  state?: string[];

  @ApiPropertyOptional({ type: String, maxLength: 64, pattern: '^[A-Za-z0-9._-]{1,64}$' })
  @PatternParam(/^[A-Za-z0-9._-]{1,64}$/, 'must be 1 to 64 of A-Z a-z 0-9 . _ -')
  dataset?: string;
}

export class RowsQuery extends Page {
  @ApiPropertyOptional({
    enum: LISTED_OUTCOMES,
    isArray: true,
    maxItems: MAX_REPEATS,
    description: 'May be repeated. Of `unchanged` there is none: such rows are counted, not kept.',
  })
  @ChoicesParam(LISTED_OUTCOMES)
  outcome?: string[];

  @ApiPropertyOptional({
    type: String,
    maxLength: 32,
    pattern: '^[a-z_]{1,32}$',
    description: 'Code of the first error.',
  })
  @PatternParam(/^[a-z_]{1,32}$/, 'must be an error code')
  code?: string;
}

export class ExportQuery {
  @ApiPropertyOptional({ type: Boolean, default: false, description: 'Also users without an external id.' })
  @BooleanParam()
  all: boolean = false;
}
