/** Who asks. Made by the access guard (or by the service itself for its own work) and by nobody else. */
export type Actor = UserActor | KeyActor | ImportActor | SystemActor;

export interface UserActor {
  kind: 'user';
  /** uuid of the user. */
  id: string;
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
  initiator: Actor;
}

/** The person, key or service behind an actor: whoever sent a run acts in its changes. */
export function initiatorOf(actor: Actor): Actor {
  return actor.kind === 'import' ? initiatorOf(actor.initiator) : actor;
}

interface SystemActor {
  kind: 'system';
  id: null;
}

/** An actor in one request: what an audit row tells of it. */
export interface Caller {
  actor: Actor;
  requestId: string;
  ip: string;
}

export function isSelf(actor: Actor, userUuid: string): boolean {
  return actor.kind === 'user' && actor.id === userUuid;
}
