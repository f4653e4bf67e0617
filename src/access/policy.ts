import { ProblemError } from '../platform/common/errors.js';
import {
  type Actor,
  FULL_RIGHTS,
  type ImportActor,
  type KeyRights,
  type NamedScope,
  type Scope,
  covers,
  coversSome,
  initiatorOf,
} from './actor.js';
import { EXTERNAL_USER, WEBMASTER } from './roles.js';

/** The columns of the permission table. */
type Level = 'external' | 'member' | 'webmaster';

const ALL: readonly Level[] = ['external', 'member', 'webmaster'];
const MEMBERS: readonly Level[] = ['member', 'webmaster'];
const WEBMASTERS: readonly Level[] = ['webmaster'];

/** Who has a permission: people of these levels, and API keys with this scope. */
interface Rule {
  levels: readonly Level[];
  /** null: any key comes through, and the route itself refuses keys. `any`: no scope is needed. `full`: a key without scopes. */
  scope: NamedScope | 'any' | 'full' | null;
}

/** The permission table, one line a permission. What is not listed is not permitted. */
const POLICY = {
  'profile.read': { levels: ALL, scope: 'users:read' },
  'profile.update': { levels: ALL, scope: 'users:write' },
  'session.logout': { levels: ALL, scope: null },
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

export function may(actor: Actor, permission: Permission): boolean {
  return POLICY[permission].levels.includes(levelOf(actor)) && missingScope(actor, permission) === undefined;
}

/** The scope that a permission needs, as in `Rule`. */
export function scopeOf(permission: Permission): Rule['scope'] {
  return POLICY[permission].scope;
}

/** Returns true for a permission that changes nothing. */
export function isToRead(permission: Permission): boolean {
  return scopeOf(permission)?.endsWith(':read') === true;
}

/** The scope for want of which an API key has not this permission. */
export function missingScope(actor: Actor, permission: Permission): NamedScope | 'full' | undefined {
  const [scope, { scopes: held }] = [scopeOf(permission), rightsOf(actor)];
  if (scope === null || scope === 'any' || held === null) return undefined;
  return scope !== 'full' && coversSome(held, scope) ? undefined : scope;
}

/** What the key behind an actor is limited to: people and the service itself are limited by their level alone. */
export function rightsOf(actor: Actor): KeyRights {
  const initiator = initiatorOf(actor);
  return initiator.kind === 'key' ? initiator.rights : FULL_RIGHTS;
}

/** Whether the keys behind an actor have a scope: of a run, both that which started it and that which has approved it. */
export function hasScope(actor: Actor, scope: Scope): boolean {
  return actor.kind === 'import' ? runHasScope(actor, scope) : covers(rightsOf(actor).scopes, scope);
}

function runHasScope({ initiator, approver }: ImportActor, scope: Scope): boolean {
  return hasScope(initiator, scope) && (approver === null || hasScope(approver, scope));
}

/** @throws ProblemError `insufficient_scope` naming the scope. */
export function assertScope(actor: Actor, scope: Scope): void {
  if (!hasScope(actor, scope)) throw insufficientScope(scope);
}

/** @param scope what is missing. */
export function insufficientScope(scope: Scope | 'full'): ProblemError {
  const detail =
    scope === 'full' ? 'This needs an API key without scopes.' : `This API key lacks the scope ${scope}.`;
  return new ProblemError('insufficient_scope', detail);
}

/** Webmaster session, API key or the service itself: reads and changes everything that its scopes admit. */
export function isWebmaster(actor: Actor): boolean {
  return levelOf(actor) === 'webmaster';
}
