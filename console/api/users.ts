import { type User, type UserInput, api, ask, because, nextOf } from './client.js';

/** A user with the ETag of this version. */
export interface Version {
  user: User;
  etag: string;
}

const at = (id: string) => ({ path: { user_id: id } });

export async function loadUser(id: string, signal?: AbortSignal): Promise<Version> {
  const call = api.GET('/api/0.3/users/{user_id}', { params: at(id), ...(signal && { signal }) });
  const { data, headers } = await ask(call);
  return { user: data, etag: headers.get('etag') ?? '' };
}

/** Saves changes of a user. @throws ProblemError 412 if the user has changed since it was loaded. */
export async function saveUser({ user, etag }: Version, body: UserInput, reason = ''): Promise<Version> {
  const params = { ...at(user.uuid), header: { 'If-Match': etag } };
  const { data, headers } = await ask(
    api.PUT('/api/0.3/users/{user_id}', { params, body, ...because(reason) }),
  );
  return { user: data, etag: headers.get('etag') ?? '' };
}

export async function loadSessions(id: string, signal: AbortSignal) {
  const query = { user_uuid: id, limit: 100 };
  return (await ask(api.GET('/api/0.3/sessions', { params: { query }, signal }))).data.Results;
}

export async function loadGroups(id: string, signal: AbortSignal) {
  const query = { user_uuid: id, limit: 100 };
  return (await ask(api.GET('/api/0.3/groups', { params: { query }, signal }))).data.Results;
}

export async function loadHistory(id: string, after: string, signal: AbortSignal) {
  const params = { ...at(id), query: { limit: 25, ...(after && { after }) } };
  const { data, headers } = await ask(api.GET('/api/0.3/users/{user_id}/history', { params, signal }));
  return { count: data.Count, isExact: data.CountIsExact, events: data.Results, next: nextOf(headers) };
}
