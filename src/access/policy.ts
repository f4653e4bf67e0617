import type { Actor } from './actor.js';
import { EXTERNAL_USER, WEBMASTER } from './roles.js';

/** The columns of the permission table. */
type Level = 'external' | 'member' | 'webmaster';

const ALL: readonly Level[] = ['external', 'member', 'webmaster'];
const MEMBERS: readonly Level[] = ['member', 'webmaster'];
const WEBMASTERS: readonly Level[] = ['webmaster'];

/** The permission table, one line a permission. What is not listed is not permitted. */
const POLICY = {
  'profile.read': ALL,
  'profile.update': ALL,
  'session.logout': ALL,
  'sessions.own': ALL,
  'sessions.manage': WEBMASTERS,
  'api_keys.manage': WEBMASTERS,
  'audit.read': WEBMASTERS,
  'users.read': MEMBERS,
  'users.search': MEMBERS,
  'users.create': WEBMASTERS,
  'users.update': WEBMASTERS,
  'users.export': WEBMASTERS,
  'imports.manage': WEBMASTERS,
} satisfies Record<string, readonly Level[]>;

export type Permission = keyof typeof POLICY;

function levelOf(actor: Actor): Level {
  if (actor.kind !== 'user' || actor.roles.includes(WEBMASTER)) return 'webmaster';
  return actor.roles.includes(EXTERNAL_USER) ? 'external' : 'member';
}

export function may(actor: Actor, permission: Permission): boolean {
  return POLICY[permission].includes(levelOf(actor));
}

/** Webmaster session, API key or the service itself: reads and changes everything. */
export function isWebmaster(actor: Actor): boolean {
  return levelOf(actor) === 'webmaster';
}
