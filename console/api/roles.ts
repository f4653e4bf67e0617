import { api, unwrap } from './client.js';
import { useResource } from './resource.js';

/** Describes what roles permit, for operators. */
export const ROLE_RIGHTS =
  'Webmasters manage users, imports, groups and API keys, and read the audit. External users see only their own profile. All other roles find active users and edit parts of their own profile. The intranet decides what else a role permits.';

const loadRoles = async (signal: AbortSignal): Promise<string[]> =>
  (await unwrap(api.GET('/api/0.3/roles', { signal }))).data.Results.map(({ name }) => name);

/**
 * Returns all roles of the service.
 * @param held roles of the displayed user or group, which are shown even before the service has responded.
 */
export function useRoles(held: readonly string[] = []): readonly string[] {
  const { data = [] } = useResource('roles', loadRoles);
  return [...new Set([...data, ...held])].toSorted();
}
