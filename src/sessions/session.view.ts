import type { Actor } from '../access/actor.js';
import { toIso } from '../common/time.js';
import type { Session } from './sessions.service.js';

/** A session as it is shown: a white list; never the cookie or its hash. */
export function presentSession({ id, user_uuid, created, expires, ip }: Session, actor: Actor) {
  return {
    id,
    user_uuid,
    created: toIso(created),
    expires: toIso(expires),
    ip,
    current: actor.kind === 'user' && actor.sessionId === id,
  };
}
