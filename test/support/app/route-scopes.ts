import { SCOPES } from '../../../src/access/actor.js';

/**
 * Scope that an API key needs for a route, by path or prefix. `full` means a key without scopes, `none` that keys are
 * refused.
 */
const PUBLIC = ['GET /status', 'POST /sessions/login'];
const SCOPE_OF: Record<string, string> = {
  'POST /sessions/logout': 'none',
  'POST /sessions/confirm': 'none',
  'GET /users': 'users:read',
  'POST /users': 'users:write',
  'PUT /users': 'users:write',
  'DELETE /users': 'users:write',
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

/** Returns the scope that a route needs, or undefined for a public route. */
export function scopeOf(route: string): string | undefined {
  if (PUBLIC.includes(route)) return undefined;
  const known = Object.keys(SCOPE_OF).filter((prefix) => route.startsWith(prefix));
  const longest = known.toSorted((a, b) => b.length - a.length)[0];
  if (longest === undefined) throw new Error(`${route} has no scope`);
  return SCOPE_OF[longest];
}
/** Routes that need the scope `webmasters` in addition, because group roles can include Webmaster. */
const NEED_WEBMASTERS_TOO = ['PUT /groups/{group_id}'];
/** Routes whose requests in the tests concern the data set `default`. */
const DEFAULT_DATASET_ROUTES = ['POST /imports', 'POST /imports/preview', 'PUT /import_profiles/{name}'];
/** Routes that concern all data sets. */
const ALL_DATASETS_ROUTES = ['POST /imports/scheduled', 'POST /imports/schedule/files'];
/** Scopes that a key may have. Uploads in the tests go into the data set `default`. */
export const NARROW_SCOPES = [...SCOPES, 'imports:write:default', 'imports:write:other'];

/** Returns the expected status for a key with one scope. @param full the status for a key without scopes. */
export function statusFor(route: string, scope: string, full: number): number {
  if (NEED_WEBMASTERS_TOO.includes(route)) return 403;
  const needed = scopeOf(route);
  if (needed === undefined || needed === 'none' || needed === scope) return full;
  const ofDataset =
    needed === 'imports:write' && scope.startsWith('imports:write:') && !ALL_DATASETS_ROUTES.includes(route);
  return ofDataset && !(DEFAULT_DATASET_ROUTES.includes(route) && scope.endsWith(':other')) ? full : 403;
}
