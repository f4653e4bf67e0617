import type { Profile } from './profiles.js';
import type { RepeatableEffect } from '../platform/database/transaction-runner.js';
import type { KeyRights } from './scopes.js';

/** Who acts. Created only by the access guard, and by the service for its own work. */
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
  /** Never wider than when the key was made. */
  rights: KeyRights;
  /** Id of the first of the limited keys that have made one another: they share their fuse and budgets (ADR 20). */
  family: string;
  /** Whether fields of a user that this service does not have are ignored instead of refused. */
  ignoresUnknownFields: boolean;
  /** How its SCIM client is answered. */
  profile: Profile;
}

/** A run of an import, with the rights of its initiator, and of who has approved it. */
interface ImportActor {
  kind: 'import';
  id: string;
  initiator: Actor;
  approver: Actor | null;
}

/** The person, key or service behind an actor: the initiator of a run is behind its changes. */
export function initiatorOf(actor: Actor): Actor {
  return actor.kind === 'import' ? initiatorOf(actor.initiator) : actor;
}

interface SystemActor {
  kind: 'system';
  id: null;
}

/** Who an actor's work is counted for: the keys of a family are one. */
export function countedFor(actor: Actor): string {
  const initiator = initiatorOf(actor);
  return `${initiator.kind}:${initiator.kind === 'key' ? initiator.family : (initiator.id ?? '')}`;
}

/** A request with an `Idempotency-Key`. */
export interface RepeatableRequest extends RepeatableEffect {
  /** Runs what handles the request, and stores the answer that it returns in the transaction of its effect. */
  answer<T>(handle: () => Promise<T>): Promise<T>;
  /**
   * Returns a part of the request that has a transaction of its own: it takes effect once, like the whole.
   * @throws FirstAnswer when it has taken effect; ProblemError `validation_failed` where the key came with another request.
   */
  part(number: number): Promise<RepeatableRequest>;
  /** Sets the content of a request whose body is a file. @throws FirstAnswer when the request has been answered. */
  received(content: unknown): Promise<void>;
}

/** An actor in one request, as an audit row records it. */
export interface Caller {
  actor: Actor;
  requestId: string;
  ip: string;
  /** Why, in the words of who acts. */
  reason?: string;
  /** Present where the request carries an `Idempotency-Key`. */
  repeatable?: RepeatableRequest;
}

/** Whether an account acts, or has started or approved the import that does. */
export function isBehind(actor: Actor, userUuid: string): boolean {
  if (actor.kind !== 'import') return isSelf(actor, userUuid);
  const { initiator, approver } = actor;
  return isBehind(initiator, userUuid) || (approver !== null && isBehind(approver, userUuid));
}

export function isSelf(actor: Actor, userUuid: string): boolean {
  return actor.kind === 'user' && actor.id === userUuid;
}
