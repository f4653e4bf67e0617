import {
  type DeletedUser,
  type ListPage,
  type User,
  type UserInput,
  api,
  loadPage,
  unwrap,
  toReasonHeader,
} from './client.js';
import type { components, paths } from './generated.js';
import { ProblemError, toProblem } from './problem.js';

export type BulkChange = components['schemas']['BulkChangeInput'];

/** A user with the ETag of this version. */
export interface UserVersion {
  user: User;
  etag: string;
}

/** Number of deleted users on a page. */
const DELETED_PAGE = 50;

const toParams = (id: string) => ({ params: { path: { user_id: id } } });

/** Builds the parameters of a change that fails if the user has changed since it was loaded. */
const toVersionParams = ({ user, etag }: UserVersion) => ({
  params: { path: { user_id: user.uuid }, header: { 'If-Match': etag } },
});

export async function loadUser(id: string, signal?: AbortSignal): Promise<UserVersion> {
  const call = api.GET('/api/0.3/users/{user_id}', { ...toParams(id), ...(signal && { signal }) });
  const { data, headers } = await unwrap(call);
  return { user: data, etag: headers.get('etag') ?? '' };
}

/** Loads users by id, except users who no longer exist. */
export async function loadUsers(ids: readonly string[], signal: AbortSignal): Promise<User[]> {
  const found = ids.map((id) =>
    loadUser(id, signal).catch((thrown: unknown) => {
      if (toProblem(thrown).status !== 404) throw thrown;
      return undefined;
    }),
  );
  return (await Promise.all(found)).flatMap((version) => version?.user ?? []);
}

/** Saves changes of a user. @throws ProblemError 412 if the user has changed since it was loaded. */
export async function saveUser(version: UserVersion, input: UserInput, reason = ''): Promise<UserVersion> {
  const body = await resolveManager(input);
  const request = { ...toVersionParams(version), body, ...toReasonHeader(reason) };
  const { data, headers } = await unwrap(api.PUT('/api/0.3/users/{user_id}', request));
  return { user: data, etag: headers.get('etag') ?? '' };
}

/** Creates a user. @returns the uuid. */
export async function createUser(body: UserInput): Promise<string> {
  const input = (await resolveManager(body)) as UserInput & { username: string; email: string }; // required in the form
  return (await unwrap(api.POST('/api/0.3/users', { body: input }))).data.uuid;
}

/** Deletes a user. @throws ProblemError 412 if the user has changed since it was loaded. */
export async function deleteUser(version: UserVersion, reason: string): Promise<void> {
  const request = { ...toVersionParams(version), ...toReasonHeader(reason) };
  await unwrap(api.DELETE('/api/0.3/users/{user_id}', request));
}

export async function restoreUser(id: string, reason: string): Promise<void> {
  const request = { ...toParams(id), ...toReasonHeader(reason) };
  await unwrap(api.POST('/api/0.3/users/{user_id}/restore', request));
}

/** Events that a deletion causes are recorded within this time after it. */
const DELETION_MILLIS = 60_000;

/** Loads the users who lost their manager when this user was deleted, and who have had no manager since. */
export async function loadFormerReports(
  { uuid, deleted: since }: DeletedUser,
  signal: AbortSignal,
): Promise<User[]> {
  const until = new Date(Date.parse(since) + DELETION_MILLIS).toISOString();
  const query = { since, until, action: ['user.updated' as const], field: 'manager_uuid', limit: 100 };
  const ids: string[] = [];
  let after = '';
  do {
    const { rows, next } = await loadEvents({ ...query, ...(after && { after }) }, signal);
    const lost = rows.filter(({ changes }) => changes.some(({ old }) => old === uuid));
    ids.push(...lost.map(({ target }) => target.id));
    after = next;
  } while (after !== '');
  return (await loadUsers(ids, signal)).filter(({ manager_uuid }) => manager_uuid === null);
}

/** Starts a bulk change. @returns the id of its run. */
export async function changeUsers(body: BulkChange): Promise<string> {
  const change = await resolveManager(body.change);
  return (await unwrap(api.POST('/api/0.3/imports', { body: { ...body, change } }))).data.id;
}

/** Lists deleted users, the last deletion first. */
export function loadDeletedUsers(
  query: { search?: string; uuid?: string; offset?: number },
  signal: AbortSignal,
): Promise<ListPage<DeletedUser>> {
  const params = { query: { order: 'desc' as const, limit: DELETED_PAGE, ...query } };
  return loadPage(api.GET('/api/0.3/users/deleted', { params, signal }), query.offset ?? 0);
}

/** Generates a password. @param mustChange true if the next sign-in must replace it. */
export async function generatePassword(id: string, mustChange: boolean, reason: string): Promise<string> {
  const request = { ...toParams(id), body: { must_change: mustChange }, ...toReasonHeader(reason) };
  return (await unwrap(api.POST('/api/0.3/users/{user_id}/password', request))).data.password;
}

type AuditQuery = NonNullable<paths['/api/0.3/audit']['get']['parameters']['query']>;

/** Loads a page of the audit events that match a filter, newest first. */
export const loadEvents = (query: AuditQuery, signal: AbortSignal) =>
  loadPage(api.GET('/api/0.3/audit', { params: { query }, signal }));

export async function loadSessions(id: string, signal: AbortSignal) {
  const query = { user_uuid: id, limit: 100 };
  return (await unwrap(api.GET('/api/0.3/sessions', { params: { query }, signal }))).data.Results;
}

export async function endSession(id: string, reason: string): Promise<void> {
  const params = { path: { session_id: id } };
  await unwrap(api.DELETE('/api/0.3/sessions/{session_id}', { params, ...toReasonHeader(reason) }));
}

export async function endAllSessions(id: string, reason: string): Promise<void> {
  const request = { ...toParams(id), ...toReasonHeader(reason) };
  await unwrap(api.DELETE('/api/0.3/users/{user_id}/sessions', request));
}

export async function loadGroups(id: string, signal: AbortSignal) {
  const query = { user_uuid: id, limit: 100 };
  return (await unwrap(api.GET('/api/0.3/groups', { params: { query }, signal }))).data.Results;
}

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Finds the id for typed text: an id, or a text that matches one user or deleted user. @returns undefined otherwise. */
export async function findId(typed: string, signal: AbortSignal): Promise<string | undefined> {
  if (UUID.test(typed)) return typed;
  const found = await findMatches(typed, signal);
  const users = found.length > 0 ? found : (await loadDeletedUsers({ search: typed }, signal)).rows;
  return users.length === 1 ? users[0]?.uuid : undefined;
}

const MAX_MATCHES = 8;

/** Finds the users who match typed text: the user with this username or full name, otherwise the results of a search. */
export async function findMatches(typed: string, signal?: AbortSignal): Promise<User[]> {
  for (const query of [{ username: typed }, { find: typed, limit: MAX_MATCHES }]) {
    const call = api.GET('/api/0.3/users/search', { params: { query }, ...(signal && { signal }) });
    const { Results: users } = (await unwrap(call)).data;
    const isNamed = ({ firstname, surname }: User) =>
      `${firstname} ${surname}`.toLowerCase() === typed.toLowerCase();
    const named = users.filter(isNamed);
    if (users.length > 0) return named.length === 1 ? named : users;
  }
  return [];
}

/** Replaces the typed manager of a request with the id. @throws ProblemError if the text does not find one user. */
async function resolveManager<T extends { manager_uuid?: string | null }>(body: T): Promise<T> {
  const typed = body.manager_uuid?.trim();
  if (!typed || UUID.test(typed)) return body;
  const [user, other] = await findMatches(typed);
  if (user && !other) return { ...body, manager_uuid: user.uuid };
  const code = other ? 'invalid_value' : 'unknown_reference';
  const message = 'matches several users. Choose one of the suggestions';
  throw new ProblemError(422, {
    code: 'validation_failed',
    title: 'A value is invalid',
    errors: [{ field: 'manager_uuid', code, message }],
  });
}
