import { api, ask } from './client.js';
import { useResource } from './resource.js';

const load = async (signal: AbortSignal): Promise<string[]> =>
  (await ask(api.GET('/api/0.3/roles', { signal }))).data.Results.map(({ name }) => name);

/**
 * The roles that users can have, and those that somebody has.
 * @param held of whom a page is about: they are there before the service has answered.
 */
export function useRoles(held: readonly string[] = []): readonly string[] {
  const { data = [] } = useResource('roles', load);
  return [...new Set([...data, ...held])].toSorted();
}
