import type { Actor } from '../access/actor.js';
import { toIso } from '../platform/common/time.js';
import type { SessionDto } from './sessions.docs.js';
import type { Session } from './sessions.service.js';

/** The answer for a session: a white list; never the cookie or its hash. */
export function presentSession({ id, user_uuid, created, expires, ip }: Session, actor: Actor): SessionDto {
  return {
    id,
    user_uuid,
    created: toIso(created),
    expires: toIso(expires),
    ip,
    current: actor.kind === 'user' && actor.sessionId === id,
  };
}
