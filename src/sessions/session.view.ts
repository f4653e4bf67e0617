import { ApiProperty } from '@nestjs/swagger';
import type { Actor } from '../access/actor.js';
import { toIso } from '../platform/common/time.js';
import { PageQuery, PageOf } from '../platform/http/page.js';
import { UuidParam } from '../platform/input/query-rules.js';
import type { Session } from './sessions.service.js';

export class SessionsQuery extends PageQuery {
  @UuidParam({ description: 'Only sessions of this user.' })
  user_uuid?: string;
}

export class LoggedInDto {
  @ApiProperty({ format: 'uuid' }) uuid!: string;
  @ApiProperty({ maxLength: 254, example: 'admin' }) username!: string;
}

class SessionDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ format: 'uuid' }) user_uuid!: string;
  @ApiProperty({ format: 'date-time' }) created!: string;
  @ApiProperty({
    format: 'date-time',
    description: 'Time when the session ends, unless a request extends it.',
  })
  expires!: string;
  @ApiProperty({ maxLength: 64, example: '203.0.113.7', description: 'IP address of the login.' })
  ip!: string;
  @ApiProperty({ description: 'True for the session of this request.' }) current!: boolean;
}

export class SessionPageDto extends PageOf(SessionDto) {}

/** Converts a session to its public view, which contains neither the cookie value nor its hash. */
export function presentSession({ id, user_uuid, created, expires, ip }: Session, actor: Actor): SessionDto {
  const current = actor.kind === 'user' && actor.sessionId === id;
  return { id, user_uuid, created: toIso(created), expires: toIso(expires), ip, current };
}
