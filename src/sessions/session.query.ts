import { ApiPropertyOptional } from '@nestjs/swagger';
import { Page } from '../http/page.js';
import { PatternParam } from '../input/query-rules.js';
import { UUID } from '../common/uuid.js';

export class SessionsQuery extends Page {
  @ApiPropertyOptional({ format: 'uuid', description: 'Of this user alone.' })
  @PatternParam(UUID, 'must be a UUID')
  user_uuid?: string;
}
