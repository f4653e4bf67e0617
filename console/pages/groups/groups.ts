import { type User, api, ask, nextOf } from '../../api/client.js';
import type { components } from '../../api/generated.js';

export type Group = components['schemas']['GroupDto'];
type Details = components['schemas']['GroupDetailsDto'];

const PAGE = 50;
const MEMBERS = 25;
const at = (id: string) => ({ path: { group_id: id } });

export async function loadGroups(page: URLSearchParams, signal: AbortSignal) {
  const [name, after] = [page.get('q')?.trim(), page.get('after')];
  const query = { limit: PAGE, ...(name && { display_name: name }), ...(after && { after }) };
  const { data, headers } = await ask(api.GET('/api/0.3/groups', { params: { query }, signal }));
  return { count: data.Count, groups: data.Results, next: nextOf(headers) };
}

/** A group with one page of its members, and its ETag. */
export interface OpenGroup {
  group: Details;
  members: (User | string)[];
  next: string;
  etag: string;
}

export async function loadGroup(id: string, after: string, signal: AbortSignal): Promise<OpenGroup> {
  const params = { ...at(id), query: { limit: MEMBERS, ...(after && { after }) } };
  const { data, headers } = await ask(api.GET('/api/0.3/groups/{group_id}', { params, signal }));
  const members = await Promise.all(data.members.map((uuid) => member(uuid, signal)));
  return { group: data, members, next: nextOf(headers), etag: headers.get('etag') ?? '' };
}

/** Loads a member. @returns the id if the user no longer exists. */
async function member(uuid: string, signal: AbortSignal): Promise<User | string> {
  const call = api.GET('/api/0.3/users/{user_id}', { params: { path: { user_id: uuid } }, signal });
  return ask(call).then(
    ({ data }) => data,
    () => uuid,
  );
}

export async function saveRoles(id: string, etag: string, roles: readonly string[]): Promise<void> {
  const params = { ...at(id), ...(etag && { header: { 'If-Match': etag } }) };
  await ask(api.PUT('/api/0.3/groups/{group_id}', { params, body: { roles: [...roles] } }));
}
