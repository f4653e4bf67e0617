import { ProblemError } from '../platform/common/errors.js';
import { type DbTime, toIso } from '../platform/common/time.js';
import {
  type Actor,
  FULL_RIGHTS,
  type KeyActor,
  type KeyRights,
  type NamedScope,
  SCOPES,
  type Scope,
  covers,
  coversSome,
  initiatorOf,
} from './actor.js';
import { areWithin } from './networks.js';
import { EXTERNAL_USER, WEBMASTER } from './roles.js';

/** The columns of the permission table. */
type Level = 'external' | 'member' | 'webmaster';

const ALL: readonly Level[] = ['external', 'member', 'webmaster'];
const MEMBERS: readonly Level[] = ['member', 'webmaster'];
const WEBMASTERS: readonly Level[] = ['webmaster'];

/** Who has a permission: people of these levels, and API keys with this scope. */
interface Rule {
  levels: readonly Level[];
  /** null: any key comes through, and the route itself refuses keys. `any`: no scope is needed. */
  scope: NamedScope | 'any' | null;
}

/** The permission table, one line a permission. What is not listed is not permitted. */
const POLICY = {
  'profile.read': { levels: ALL, scope: 'users:read' },
  'profile.update': { levels: ALL, scope: 'users:write' },
  'session.logout': { levels: ALL, scope: null },
  'sessions.own': { levels: ALL, scope: 'users:read' },
  'sessions.end': { levels: ALL, scope: 'users:write' },
  'sessions.manage': { levels: WEBMASTERS, scope: 'users:write' },
  'api_keys.manage': { levels: WEBMASTERS, scope: 'keys:write' },
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

/** The scope that a permission needs; null for one that is not for keys, `any` for one that every key has. */
export function scopeOf(permission: Permission): NamedScope | 'any' | null {
  return POLICY[permission].scope;
}

/** Returns true for a permission that changes nothing. */
export function isToRead(permission: Permission): boolean {
  return scopeOf(permission)?.endsWith(':read') === true;
}

/** The scope for want of which an API key has not this permission. */
export function missingScope(actor: Actor, permission: Permission): NamedScope | undefined {
  const scope = scopeOf(permission);
  return scope === null || scope === 'any' || coversSome(rightsOf(actor).scopes, scope) ? undefined : scope;
}

/** What the key behind an actor is limited to: people and the service itself are limited by their level alone. */
export function rightsOf(actor: Actor): KeyRights {
  const initiator = initiatorOf(actor);
  return initiator.kind === 'key' ? initiator.rights : FULL_RIGHTS;
}

/** Whether the keys behind an actor have a scope: of a run, both that which started it and that which has approved it. */
export function hasScope(actor: Actor, scope: Scope): boolean {
  if (actor.kind === 'import') {
    return hasScope(actor.initiator, scope) && (actor.approver === null || hasScope(actor.approver, scope));
  }
  return covers(rightsOf(actor).scopes, scope);
}

/** @throws ProblemError `insufficient_scope` naming the scope. */
export function assertScope(actor: Actor, scope: Scope): void {
  if (!hasScope(actor, scope)) throw insufficientScope(scope);
}

/** @param scope what is missing. */
export function insufficientScope(scope: Scope): ProblemError {
  return new ProblemError('insufficient_scope', `This API key lacks the scope ${scope}.`);
}

/** Whether a key is less than a Webmaster in what it may do, and so must not get past its limits with keys that it makes. */
export function isLimited({ rights }: KeyActor): boolean {
  return rights.scopes !== null;
}

/**
 * Nobody hands out more than they have: the scopes, networks and life of a new key lie within those of its maker, and it
 * ignores unknown fields only where a limited maker does.
 * @throws ProblemError `insufficient_scope` naming what exceeds, `network_not_permitted`.
 */
export function assertWithin(wanted: KeyRights & { ignoresUnknownFields: boolean }, maker: Actor): void {
  const own = rightsOf(maker);
  assertScopesWithin(wanted.scopes, own.scopes);
  if (own.networks !== null && !(wanted.networks && areWithin(wanted.networks, own.networks))) {
    const detail = `A key of this API key must name networks within ${own.networks.join(', ')}.`;
    throw new ProblemError('network_not_permitted', detail);
  }
  if (own.expires !== null && (wanted.expires === null || wanted.expires > own.expires)) {
    const detail = `A key of this API key must expire with it or before: at ${toIso(own.expires)}.`;
    throw new ProblemError('insufficient_scope', detail);
  }
  if (maker.kind !== 'key' || !wanted.ignoresUnknownFields) return;
  if (isLimited(maker) && !maker.ignoresUnknownFields) {
    const detail = 'A key of this API key must refuse unknown fields as it does: unknown_fields "refuse".';
    throw new ProblemError('insufficient_scope', detail);
  }
}

/** @throws ProblemError `insufficient_scope` naming the scopes of `wanted` that `own` does not cover. */
export function assertScopesWithin(wanted: KeyRights['scopes'], own: KeyRights['scopes']): void {
  if (own === null) return;
  const missing = (wanted ?? SCOPES).filter((scope) => !covers(own, scope));
  if (missing.length === 0 && wanted !== null) return;
  const lacks = missing.length > 0 ? `, and this API key lacks ${missing.join(', ')}` : '';
  const has = wanted === null ? 'is not limited by scopes' : 'has more scopes';
  throw new ProblemError('insufficient_scope', `The other key ${has}${lacks}.`);
}

/** Webmaster session, API key or the service itself: reads and changes everything that its scopes admit. */
export function isWebmaster(actor: Actor): boolean {
  return levelOf(actor) === 'webmaster';
}
