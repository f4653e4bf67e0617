import type { RepeatableEffect } from '../platform/database/transaction-runner.js';
import type { DbTime } from '../platform/common/time.js';

/**
 * The user, API key, import or system process that causes an effect. Only the access guard and internal jobs of the
 * service create actors.
 */
export type Actor = UserActor | KeyActor | ImportActor | typeof SYSTEM;

export interface UserActor {
  kind: 'user';
  id: string;
  username: string;
  roles: readonly string[];
  sessionId: string;
  /** Time when the session last verified the user's password. Undefined for work that continues after a request. */
  confirmed?: DbTime;
  /** True until the user has replaced a password that must be replaced. */
  mustChangePassword?: boolean;
}

export interface KeyActor {
  kind: 'key';
  id: string;
  /** The rights that the key was created with. They never change. */
  rights: KeyRights;
  /** If true, unknown fields in the data of a user are ignored. Otherwise they are rejected. */
  ignoresUnknownFields: boolean;
  /** Deviations from SCIM that are accepted from this key. */
  profile: KeyProfile;
}

/**
 * The import run that makes a change. It has only the rights that its initiator and its approver both have. Without
 * `allowsPrivileged`, it lacks the scope `webmasters`.
 */
interface ImportActor {
  kind: 'import';
  id: string;
  initiator: Actor;
  approver: Actor | null;
  allowsPrivileged: boolean;
  /** Data set of the import that the run reverts. Undefined if the run is not a revert. */
  revertedDataset?: string;
}

/** Returns the actor itself, or the initiator of an import. */
export function initiatorOf(actor: Actor): Actor {
  return actor.kind === 'import' ? initiatorOf(actor.initiator) : actor;
}

/** The actor of internal jobs of the service and of commands that run on the same machine. */
export const SYSTEM = { kind: 'system', id: null } as const;

/**
 * Returns the key under which the requests and searches of an actor are counted. An import counts for its initiator.
 */
export function getUsageKey(actor: Actor): string {
  const initiator = initiatorOf(actor);
  return `${initiator.kind}:${initiator.id ?? ''}`;
}

/** A request with an `Idempotency-Key`. It takes effect only once, even if the client repeats it. */
export interface RepeatableRequest extends RepeatableEffect {
  /** Identifies the request with its content in all its attempts, without revealing them. In hexadecimal. */
  readonly fingerprint: string;
  /** Runs the handler, and stores its response in the transaction that changes the data. */
  runOnce<T>(handle: () => Promise<T>): Promise<T>;
  /**
   * Creates a sub-request with its own transaction, such as for a batch of Bulk operations. Like the request itself,
   * the sub-request takes effect only once.
   * @param number identifies the sub-request within the request.
   * @throws ReplayedResponseError if the sub-request has already taken effect, ProblemError `validation_failed` if the
   * `Idempotency-Key` belongs to a different request.
   */
  createPartRequest(number: number): Promise<RepeatableRequest>;
  /**
   * Sets the content of a request whose body is a file, after the file is read.
   * @throws ReplayedResponseError if a response to this request is already stored.
   */
  setContent(content: unknown): Promise<void>;
}

/** The actor of a request, with the address and the reason that the audit records. */
export interface Caller {
  actor: Actor;
  requestId: string;
  ip: string;
  reason?: string;
  /** Set if the request has an `Idempotency-Key`. */
  repeatable?: RepeatableRequest;
}

/** Returns true if the user is the actor, or if the actor is an import that the user started or approved. */
export function isResponsibleFor(actor: Actor, userUuid: string): boolean {
  if (actor.kind !== 'import') return isSelf(actor, userUuid);
  const { initiator, approver } = actor;
  return isResponsibleFor(initiator, userUuid) || (approver !== null && isResponsibleFor(approver, userUuid));
}

export const isSameActor = (a: Actor, b: Actor): boolean => a.kind === b.kind && a.id === b.id;

export function isSelf(actor: Actor, userUuid: string): boolean {
  return actor.kind === 'user' && actor.id === userUuid;
}

/** The key profiles: standard SCIM, or the deviations that one identity provider expects. */
export const PROFILES = ['standard', 'entra', 'okta', 'midpoint'] as const;
export type KeyProfile = (typeof PROFILES)[number];

/** The profile of users and of API keys without a profile. */
export const DEFAULT_PROFILE: KeyProfile = 'standard';

/**
 * Scopes of an API key. They do not include each other, but `imports:write` includes every `imports:write:<dataset>`.
 */
export const SCOPES = [
  'users:read',
  'users:write',
  'groups:read',
  'groups:write',
  'imports:read',
  'imports:write',
  'audit:read',
  /**
   * Required to create, change, block or delete a Webmaster, and to end the sessions of a Webmaster. Such a request
   * also needs its usual scope.
   */
  'webmasters',
] as const;
export type NamedScope = (typeof SCOPES)[number];
/** The scope of an API key. `imports:write:<dataset>` allows the key to change the runs of one data set. */
export type Scope = NamedScope | `${typeof DATASET_SCOPE}${string}`;

const DATASET_SCOPE = 'imports:write:';
const DATASET_NAME = /^[A-Za-z0-9._-]{1,64}$/;
export const MAX_SCOPE_LENGTH = DATASET_SCOPE.length + 64;

export function isScope(text: string): text is Scope {
  if (text.startsWith(DATASET_SCOPE)) return DATASET_NAME.test(text.slice(DATASET_SCOPE.length));
  return SCOPES.some((scope) => scope === text);
}

export function toDatasetScope(dataset: string): Scope {
  return `${DATASET_SCOPE}${dataset}`;
}

/** The scopes, networks and expiry time of an API key. Null means no limit. */
export interface KeyRights {
  scopes: readonly Scope[] | null;
  /** Networks in CIDR notation, in the form that `normalizeNetwork` returns. */
  networks: readonly string[] | null;
  expires: DbTime | null;
}

export const FULL_RIGHTS: KeyRights = { scopes: null, networks: null, expires: null };
/** Rights with an empty list of scopes, for a key whose rights are not yet read from the database. */
export const NO_RIGHTS: KeyRights = { ...FULL_RIGHTS, scopes: [] };

export function grantsScope(granted: KeyRights['scopes'], required: Scope): boolean {
  if (granted === null || granted.includes(required)) return true;
  return required.startsWith(DATASET_SCOPE) && granted.includes('imports:write');
}

/**
 * Returns true if a key with the `granted` scopes has the required scope for at least one data set. `assertScope` must
 * still check the data set of the request.
 */
export function grantsScopePartly(granted: KeyRights['scopes'], required: NamedScope): boolean {
  if (grantsScope(granted, required)) return true;
  return required === 'imports:write' && granted?.some((scope) => scope.startsWith(DATASET_SCOPE)) === true;
}
