import { type ListPage, type User, api, loadPage, unwrap, getNextCursor } from '../../api/client.js';
import type { components } from '../../api/generated.js';
import { loadUsers } from '../../api/users.js';

export type Group = components['schemas']['GroupDto'];

const PAGE = 50;
const MEMBERS = 25;
const toParams = (id: string) => ({ path: { group_id: id } });

export function loadGroups(page: URLSearchParams, signal: AbortSignal) {
  const [name, after] = [page.get('q')?.trim(), page.get('after')];
  const query = { limit: PAGE, ...(name && { display_name: name }), ...(after && { after }) };
  return loadPage(api.GET('/api/0.3/groups', { params: { query }, signal }));
}

export type LoadedGroup = Awaited<ReturnType<typeof loadGroup>>;

/** Loads a group with one page of its members, and its ETag. */
export async function loadGroup(id: string, after: string, signal: AbortSignal) {
  const params = { ...toParams(id), query: { limit: MEMBERS, ...(after && { after }) } };
  const { data, headers } = await unwrap(api.GET('/api/0.3/groups/{group_id}', { params, signal }));
  const members = await loadUsers(data.members, signal);
  const page: ListPage<User> = { count: data.member_count, rows: members, next: getNextCursor(headers) };
  return { group: data, members: page, etag: headers.get('etag') ?? '' };
}

export async function saveRoles(id: string, etag: string, roles: readonly string[]): Promise<void> {
  const params = { ...toParams(id), ...(etag && { header: { 'If-Match': etag } }) };
  await unwrap(api.PUT('/api/0.3/groups/{group_id}', { params, body: { roles: [...roles] } }));
}
