import { SCOPES } from '../../../src/access/actor.js';

/** The scope that an API key needs for a route, by path or by beginning; `full`: no scopes; `none`: keys are refused. */
const PUBLIC = ['GET /status', 'POST /sessions/login'];
const SCOPE_OF: Record<string, string> = {
  'POST /sessions/logout': 'none',
  'GET /users': 'users:read',
  'POST /users': 'users:write',
  'PUT /users': 'users:write',
  'DELETE /users': 'users:write',
  'GET /users/{user_id}/history': 'audit:read',
  'GET /roles': 'users:read',
  'GET /groups': 'groups:read',
  'PUT /groups': 'groups:write',
  'GET /imports': 'imports:read',
  'POST /imports': 'imports:write',
  'GET /import_profiles': 'imports:read',
  'PUT /import_profiles': 'imports:write',
  'DELETE /import_profiles': 'imports:write',
  'GET /audit': 'audit:read',
  'GET /statistics': 'audit:read',
  'GET /api_keys': 'full',
  'POST /api_keys': 'full',
  'DELETE /api_keys': 'full',
  'GET /sessions': 'users:read',
  'DELETE /sessions': 'users:write',
};

/** undefined for a public route. */
export function scopeOf(route: string): string | undefined {
  if (PUBLIC.includes(route)) return undefined;
  const known = Object.keys(SCOPE_OF).filter((beginning) => route.startsWith(beginning));
  const longest = known.toSorted((a, b) => b.length - a.length)[0];
  if (longest === undefined) throw new Error(`${route} has no scope`);
  return SCOPE_OF[longest];
}
/** Roles of groups make Webmasters: no single scope is enough. */
const NEED_WEBMASTERS_TOO = ['PUT /groups/{group_id}'];
/** Requests of the tests that are about the data set `default`. */
const OF_DEFAULT = ['POST /imports', 'POST /imports/preview', 'PUT /import_profiles/{name}'];
/** The upload goes into the data set `default`; the import that the other lines name does not exist. */
export const NARROW = [...SCOPES, 'imports:write:default', 'imports:write:other'];

/** The answer to a key with one scope: that of a full key, or 403. */
export function statusFor(route: string, scope: string, full: number): number {
  if (NEED_WEBMASTERS_TOO.includes(route)) return 403;
  const needed = scopeOf(route);
  if (needed === undefined || needed === 'none' || needed === scope) return full;
  const ofDataset = needed === 'imports:write' && scope.startsWith('imports:write:');
  return ofDataset && !(OF_DEFAULT.includes(route) && scope.endsWith(':other')) ? full : 403;
}
