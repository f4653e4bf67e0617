/** Who asks. Made by the access guard (or by the service itself for its own work) and by nobody else. */
export type Actor = UserActor | KeyActor | ImportActor | SystemActor;

export interface UserActor {
  kind: 'user';
  uuid: string;
  username: string;
  roles: readonly string[];
  sessionId: string;
}

export interface KeyActor {
  kind: 'key';
  id: string;
}

/** A run of an import, with the rights of whoever sent it. */
interface ImportActor {
  kind: 'import';
  id: string;
}

interface SystemActor {
  kind: 'system';
}

/** An actor in one request: what an audit row tells of it. */
export interface Caller {
  actor: Actor;
  requestId: string;
  ip: string;
}

/** Id of the user, key or run; the system has none. */
export function actorId(actor: Actor): string | null {
  if (actor.kind === 'user') return actor.uuid;
  return actor.kind === 'system' ? null : actor.id;
}

export function isSelf(actor: Actor, userUuid: string): boolean {
  return actor.kind === 'user' && actor.uuid === userUuid;
}
