import type { RepeatableEffect } from '../platform/database/transaction-runner.js';
import type { DbTime } from '../platform/common/time.js';

/**
 * The user, API key, import or system process that causes an effect. Only the access guard and internal
 * jobs of the service create one.
 */
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
  /** The rights that the key was created with. They never grow. */
  rights: KeyRights;
  /** True if unknown fields of a user are ignored instead of rejected. */
  ignoresUnknownFields: boolean;
  /** The rules by which the service responds to the SCIM client of this key. */
  profile: KeyProfile;
}

/** A run of an import. It has only the rights that its initiator and its approver share. */
export interface ImportActor {
  kind: 'import';
  id: string;
  initiator: Actor;
  approver: Actor | null;
}

/** Returns the user, key or system process that is responsible for an actor. For an import this is its initiator. */
export function initiatorOf(actor: Actor): Actor {
  return actor.kind === 'import' ? initiatorOf(actor.initiator) : actor;
}

interface SystemActor {
  kind: 'system';
  id: null;
}

/** The service itself, and commands on the same machine. */
export const SYSTEM: SystemActor = { kind: 'system', id: null };

/**
 * Returns the string by which the requests and searches of an actor are counted. An import counts for its initiator.
 */
export function getUsageKey(actor: Actor): string {
  const initiator = initiatorOf(actor);
  return `${initiator.kind}:${initiator.id ?? ''}`;
}

/** A request with an `Idempotency-Key`. */
export interface RepeatableRequest extends RepeatableEffect {
  /** Runs the handler and stores its response in the transaction of the effect. */
  runOnce<T>(handle: () => Promise<T>): Promise<T>;
  /**
   * Returns a part of the request with its own transaction. Like the whole request, the part takes effect only once.
   * @throws ReplayedResponseError if the part has already taken effect, ProblemError `validation_failed` if the key
   * belongs to a different request.
   */
  createPart(number: number): Promise<RepeatableRequest>;
  /**
   * Sets the content of a request whose body is a file.
   * @throws ReplayedResponseError if a response to this request is stored.
   */
  setContent(content: unknown): Promise<void>;
}

/** The actor of one request, as the audit records it. */
export interface Caller {
  actor: Actor;
  requestId: string;
  ip: string;
  /** The reason for the change, as entered by the client. */
  reason?: string;
  /** Set if the request has an `Idempotency-Key`. */
  repeatable?: RepeatableRequest;
}

/** Returns true if the user is the actor, or started or approved the import that is the actor. */
export function isResponsibleFor(actor: Actor, userUuid: string): boolean {
  if (actor.kind !== 'import') return isSelf(actor, userUuid);
  const { initiator, approver } = actor;
  return isResponsibleFor(initiator, userUuid) || (approver !== null && isResponsibleFor(approver, userUuid));
}

export function isSelf(actor: Actor, userUuid: string): boolean {
  return actor.kind === 'user' && actor.id === userUuid;
}

/** Profiles of a SCIM client: the standard, or the deviations that one identity provider expects. */
export const PROFILES = ['standard', 'entra', 'okta', 'midpoint'] as const;
export type KeyProfile = (typeof PROFILES)[number];

/** The profile of users, and of keys without a profile. */
export const DEFAULT_PROFILE: KeyProfile = 'standard';

/** Scopes of an API key. No scope implies another, except that `imports:write` includes every data set. */
export const SCOPES = [
  'users:read',
  'users:write',
  'groups:read',
  'groups:write',
  'imports:read',
  'imports:write',
  'audit:read',
  /** Also required to create, change, block or delete a Webmaster, and to end the sessions of a Webmaster. */
  'webmasters',
] as const;
export type NamedScope = (typeof SCOPES)[number];
/** `imports:write:<dataset>` grants access to the runs of one data set. */
export type Scope = NamedScope | `${typeof DATASET_SCOPE}${string}`;

const DATASET_SCOPE = 'imports:write:';
const DATASET_NAME = /^[A-Za-z0-9._-]{1,64}$/;
/** Length of the longest scope, in characters. */
export const MAX_SCOPE_LENGTH = DATASET_SCOPE.length + 64;

export function isScope(text: string): text is Scope {
  if (text.startsWith(DATASET_SCOPE)) return DATASET_NAME.test(text.slice(DATASET_SCOPE.length));
  return SCOPES.some((scope) => scope === text);
}

/** Returns the scope that is required to change runs of the data set. */
export function toDatasetScope(dataset: string): Scope {
  return `${DATASET_SCOPE}${dataset}`;
}

/** The permissions, networks and expiry of an API key. null means no limit. */
export interface KeyRights {
  scopes: readonly Scope[] | null;
  /** Networks in CIDR notation, in the form of `normalizeNetwork`. */
  networks: readonly string[] | null;
  expires: DbTime | null;
}

export const FULL_RIGHTS: KeyRights = { scopes: null, networks: null, expires: null };
/** Rights of a key whose real rights are unknown. */
export const NO_RIGHTS: KeyRights = { ...FULL_RIGHTS, scopes: [] };

/** Returns true if the held scopes include the required scope. */
export function grantsScope(held: KeyRights['scopes'], required: Scope): boolean {
  if (held === null || held.includes(required)) return true;
  return required.startsWith(DATASET_SCOPE) && held.includes('imports:write');
}

/**
 * Returns true if the held scopes include the required scope for at least one data set. `assertScope` checks
 * the data set of the request later.
 */
export function grantsScopePartly(held: KeyRights['scopes'], required: NamedScope): boolean {
  if (grantsScope(held, required)) return true;
  return required === 'imports:write' && held?.some((scope) => scope.startsWith(DATASET_SCOPE)) === true;
}
