import { ApiPropertyOptional } from '@nestjs/swagger';
import { choices } from '../http/docs.js';
import { AfterParam, LimitParam } from '../http/page.js';
import { ChoiceParam, ChoicesParam, MAX_REPEATS, PatternParam, TimeParam } from '../input/query-rules.js';
import { UUID } from '../common/uuid.js';
import { ACTIONS, ACTOR_KINDS, type AuditAction } from './audit-event.js';

/** What of the audit is wanted; the same for the list and the file. */
export class AuditFilter {
  @ApiPropertyOptional({ format: 'uuid', description: 'Who did it: id of a user, an API key or an import.' })
  @PatternParam(UUID, 'must be a UUID')
  actor?: string;

  @ApiPropertyOptional(choices(ACTOR_KINDS))
  @ChoiceParam(ACTOR_KINDS)
  actor_kind?: string;

  @ApiPropertyOptional({
    enum: ACTIONS,
    isArray: true,
    maxItems: MAX_REPEATS,
    description: 'May be repeated (or).',
  })
  @ChoicesParam(ACTIONS)
  action?: AuditAction[];

  @ApiPropertyOptional({ format: 'uuid', description: 'To whom: id of a user, session, API key or import.' })
  @PatternParam(UUID, 'must be a UUID')
  target?: string;

  @ApiPropertyOptional({
    example: 'email',
    maxLength: 64,
    pattern: '^[a-z_]{1,64}$',
    description: 'A field that was changed.',
  })
  @PatternParam(/^[a-z_]{1,64}$/, 'must be the name of a field')
  field?: string;

  @ApiPropertyOptional({ format: 'date-time', description: 'At this time or later.' })
  @TimeParam()
  since?: string;

  @ApiPropertyOptional({ format: 'date-time', description: 'Before this time.' })
  @TimeParam()
  until?: string;
}

/** A page of them. */
export class AuditQuery extends AuditFilter {
  @LimitParam()
  limit: number = 25;

  @AfterParam()
  after?: string;
}
