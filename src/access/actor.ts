import type { RepeatableEffect } from '../platform/database/transaction-runner.js';
import type { DbTime } from '../platform/common/time.js';

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
  /** Whether fields of a user that this service does not have are ignored instead of refused. */
  ignoresUnknownFields: boolean;
  /** How its SCIM client is answered. */
  profile: Profile;
}

/** A run of an import, with the rights of its initiator, and of who has approved it. */
export interface ImportActor {
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

/** The service itself, and the commands of its machine. */
export const SYSTEM: SystemActor = { kind: 'system', id: null };

/** Who an actor's work is counted for. */
export function countedFor(actor: Actor): string {
  const initiator = initiatorOf(actor);
  return `${initiator.kind}:${initiator.id ?? ''}`;
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

/** How a SCIM client of an API key is answered: by the standard, or as one of the identity providers expects it. */
export const PROFILES = ['standard', 'entra', 'okta', 'midpoint'] as const;
export type Profile = (typeof PROFILES)[number];

/** Of a key that names none, and of people. */
export const DEFAULT_PROFILE: Profile = 'standard';

/** What an API key may be limited to. No scope implies another, but `imports:write` holds every data set. */
export const SCOPES = [
  'users:read',
  'users:write',
  'groups:read',
  'groups:write',
  'imports:read',
  'imports:write',
  'audit:read',
  /** Needed in addition to make, change, block or delete a Webmaster, or to end one's sessions. */
  'webmasters',
] as const;
export type NamedScope = (typeof SCOPES)[number];
/** `imports:write:<dataset>` is limited to the runs of one data set. */
export type Scope = NamedScope | `${typeof OF_DATASET}${string}`;

const OF_DATASET = 'imports:write:';
const DATASET = /^[A-Za-z0-9._-]{1,64}$/;
/** Characters of the longest scope. */
export const MAX_SCOPE = OF_DATASET.length + 64;

export function isScope(text: string): text is Scope {
  if (text.startsWith(OF_DATASET)) return DATASET.test(text.slice(OF_DATASET.length));
  return SCOPES.some((scope) => scope === text);
}

/** The scope that runs of a data set need to be changed. */
export function datasetScope(dataset: string): Scope {
  return `${OF_DATASET}${dataset}`;
}

/** What an API key may do, from where and until when. null is no limit: the full Webmaster level, anywhere, for ever. */
export interface KeyRights {
  scopes: readonly Scope[] | null;
  /** Networks in CIDR notation, as `access/networks.ts` writes them. */
  networks: readonly string[] | null;
  expires: DbTime | null;
}

export const FULL_RIGHTS: KeyRights = { scopes: null, networks: null, expires: null };
/** Of a key whose rights are not known. */
export const NO_RIGHTS: KeyRights = { ...FULL_RIGHTS, scopes: [] };

/** Whether these scopes permit what needs `wanted`. */
export function covers(held: KeyRights['scopes'], wanted: Scope): boolean {
  if (held === null || held.includes(wanted)) return true;
  return wanted.startsWith(OF_DATASET) && held.includes('imports:write');
}

/** As `covers`, where one data set will do: which one a request is about is known later, and judged by `assertScope`. */
export function coversSome(held: KeyRights['scopes'], wanted: NamedScope): boolean {
  if (covers(held, wanted)) return true;
  return wanted === 'imports:write' && held?.some((scope) => scope.startsWith(OF_DATASET)) === true;
}
