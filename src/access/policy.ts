import { ProblemError } from '../platform/common/errors.js';
import { addSeconds, now } from '../platform/common/time.js';
import {
  type Actor,
  FULL_RIGHTS,
  type KeyRights,
  type NamedScope,
  type Scope,
  grantsScope,
  grantsScopePartly,
  initiatorOf,
} from './actor.js';
import { EXTERNAL_USER, WEBMASTER } from './roles.js';

type Level = 'external' | 'member' | 'webmaster';

const ALL: readonly Level[] = ['external', 'member', 'webmaster'];
const MEMBERS: readonly Level[] = ['member', 'webmaster'];
const WEBMASTERS: readonly Level[] = ['webmaster'];

/** Users and API keys that have a permission. */
interface Rule {
  levels: readonly Level[];
  /**
   * Scope that an API key needs. `any`: every key is accepted. `full`: only keys without limits on scopes are accepted.
   * null: the route itself rejects keys.
   */
  scope: NamedScope | 'any' | 'full' | null;
}

const POLICY = {
  'profile.read': { levels: ALL, scope: 'users:read' },
  'profile.update': { levels: ALL, scope: 'users:write' },
  'session.logout': { levels: ALL, scope: null },
  'session.confirm': { levels: ALL, scope: null },
  'sessions.own': { levels: ALL, scope: 'users:read' },
  'sessions.end': { levels: ALL, scope: 'users:write' },
  'sessions.manage': { levels: WEBMASTERS, scope: 'users:write' },
  'api_keys.manage': { levels: WEBMASTERS, scope: 'full' },
  'audit.read': { levels: WEBMASTERS, scope: 'audit:read' },
  'statistics.read': { levels: WEBMASTERS, scope: 'audit:read' },
  'users.read': { levels: MEMBERS, scope: 'users:read' },
  'users.search': { levels: MEMBERS, scope: 'users:read' },
  'users.create': { levels: WEBMASTERS, scope: 'users:write' },
  'users.update': { levels: WEBMASTERS, scope: 'users:write' },
  'users.deleted': { levels: WEBMASTERS, scope: 'users:read' },
  'users.export': { levels: WEBMASTERS, scope: 'users:read' },
  'groups.read': { levels: WEBMASTERS, scope: 'groups:read' },
  'groups.write': { levels: WEBMASTERS, scope: 'groups:write' },
  'imports.read': { levels: WEBMASTERS, scope: 'imports:read' },
  'imports.write': { levels: WEBMASTERS, scope: 'imports:write' },
  'scim.discover': { levels: WEBMASTERS, scope: 'any' },
  'scim.bulk': { levels: WEBMASTERS, scope: 'any' },
} satisfies Record<string, Rule>;

export type Permission = keyof typeof POLICY;

function levelOf(actor: Actor): Level {
  if (actor.kind !== 'user' || actor.roles.includes(WEBMASTER)) return 'webmaster';
  return actor.roles.includes(EXTERNAL_USER) ? 'external' : 'member';
}

export function hasPermission(actor: Actor, permission: Permission): boolean {
  return !findMissingScope(actor, permission) && POLICY[permission].levels.includes(levelOf(actor));
}

export function scopeOf(permission: Permission): Rule['scope'] {
  return POLICY[permission].scope;
}

export function isReadPermission(permission: Permission): boolean {
  return scopeOf(permission)?.endsWith(':read') === true;
}

/** Returns the scope that an API key lacks for a permission, if any. */
export function findMissingScope(actor: Actor, permission: Permission): NamedScope | 'full' | undefined {
  const [scope, { scopes: held }] = [scopeOf(permission), rightsOf(actor)];
  if (scope === null || scope === 'any' || held === null) return undefined;
  return scope !== 'full' && grantsScopePartly(held, scope) ? undefined : scope;
}

/** Returns the rights of the API key that is the actor, or that started the import. Without a key, returns all rights. */
export function rightsOf(actor: Actor): KeyRights {
  const initiator = initiatorOf(actor);
  return initiator.kind === 'key' ? initiator.rights : FULL_RIGHTS;
}

/**
 * Returns true if the actor has the scope. Only API keys and imports can lack a scope. For an import, both its initiator
 * and its approver need the scope.
 */
export function hasScope(actor: Actor, scope: Scope): boolean {
  if (actor.kind !== 'import') return grantsScope(rightsOf(actor).scopes, scope);
  const { initiator, approver, allowsPrivileged } = actor;
  if (scope === 'webmasters' && !allowsPrivileged) return false;
  return hasScope(initiator, scope) && (approver === null || hasScope(approver, scope));
}

/** @throws ProblemError `insufficient_scope` with the name of the scope. */
export function assertScope(actor: Actor, scope: Scope): void {
  if (!hasScope(actor, scope)) throw createScopeError(scope);
}

export function createScopeError(scope: Scope | 'full'): ProblemError {
  const detail =
    scope === 'full'
      ? 'This request requires an API key without scopes.'
      : `This API key lacks the scope ${scope}.`;
  return new ProblemError('insufficient_scope', detail);
}

/** Time for which a login or a confirmation of the session permits sensitive changes. */
const CONFIRMATION_SECONDS = 10 * 60;
export const UNCONFIRMED =
  'This change requires a login or a confirmation of the session within the last 10 minutes';

/** Returns false for a session that verified the password too long ago to permit a sensitive change (interface §2). */
export function isConfirmed(actor: Actor): boolean {
  if (actor.kind !== 'user' || actor.confirmed === undefined) return true;
  return actor.confirmed > addSeconds(now(), -CONFIRMATION_SECONDS);
}

/** @throws ProblemError `reauthentication_required` for a session that is not confirmed. */
export function assertConfirmed(actor: Actor): void {
  if (isConfirmed(actor)) return;
  throw new ProblemError('reauthentication_required', `${UNCONFIRMED}.`);
}

/** @throws ProblemError `password_change_required` for a session whose user must replace the password. */
export function assertPasswordReplaced(actor: Actor): void {
  if (actor.kind !== 'user' || actor.mustChangePassword !== true) return;
  const detail = 'Replace the password first. Send a new password with `PUT /users/{user_id}`.';
  throw new ProblemError('password_change_required', detail);
}

/**
 * Returns true if the actor has the permissions of a Webmaster: a user with this role, an API key, an import or the
 * service itself. The scopes of a key are checked separately.
 */
export function isWebmaster(actor: Actor): boolean {
  return levelOf(actor) === 'webmaster';
}
