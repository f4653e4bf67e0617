import { beforeAll, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import { readAuditRows } from '../support/app/audit-rows.js';
import type { Client, Json } from '../support/app/client.js';
import { aGroup } from '../support/app/groups.js';
import { deletion, writeUsers } from '../support/app/deletion.js';
import { awaitRun, csv, runImport } from '../support/app/imports.js';
import { PASSWORD, aPerson, databaseOf, inSeconds, problemOf } from '../support/app/people.js';
import { aUser, create } from '../support/data/factories.js';

/** Sensitive changes need a login or a confirmation of the session within the last 10 minutes. */
const app = setUpApp({ LOGIN_FAILURES_PER_IP: '1000' });
const MINUTES = 60;
const ROLES = { roles: ['Webmaster'] };

let webmaster: Client;
let user: Json;
beforeAll(async () => void ({ client: webmaster, user } = await aPerson(app, ROLES)));

const setAge = (seconds: number) =>
  databaseOf(app).execute('UPDATE sessions SET created = ?, confirmed = NULL', [inSeconds(-seconds)]);
const confirm = (client: Client, password = PASSWORD, headers = {}) =>
  client.post('/sessions/confirm', { password }, headers);
let files = 0;
const aFile = () =>
  csv('ExternalId,Username,Email,Roles', `w${++files},w${files},w${files}@example.org,Webmaster`);
const importFile = async (query = '') =>
  (await runImport(app.key, aFile(), `allow_privileged=true${query}`)).id as string;
async function deleteWebmaster(): Promise<string> {
  const { uuid } = await create(app.key, ROLES);
  await writeUsers(app, [deletion(uuid)]);
  return uuid;
}
const send = (client: Client, method: string, path: string, body?: object | string) =>
  typeof body === 'string'
    ? client.send(method, path, body, { 'content-type': 'text/csv' })
    : client.send(method, path, body && JSON.stringify(body));

type Row = [
  string,
  string,
  (id: string) => string,
  object | string | undefined,
  number,
  (() => Promise<string>)?,
];
/** Changes that give access to a Webmaster or a key, with their status for a confirmed session. */
// prettier-ignore
const SENSITIVE: Row[] = [
  ['a new API key', 'POST', () => '/api_keys', { name: 'x' }, 201],
  ['a new Webmaster', 'POST', () => '/users', aUser(ROLES), 201],
  ['granting the role Webmaster', 'PUT', (id) => `/users/${id}`, ROLES, 200, async () => (await create(app.key)).uuid],
  ['a new password of a Webmaster', 'PUT', (id) => `/users/${id}`, { password: PASSWORD }, 200, async () => (await create(app.key, ROLES)).uuid],
  ['a new login name of a Webmaster', 'PUT', (id) => `/users/${id}`, { username: 'new-name' }, 200, async () => (await create(app.key, ROLES)).uuid],
  ["a change of one's own e-mail address", 'PUT', () => `/users/${user.uuid}`, { email: 'own@example.org' }, 200],
  ['reactivating a Webmaster', 'PUT', (id) => `/users/${id}`, { status: 'Active' }, 200, async () => (await create(app.key, { ...ROLES, status: 'Blocked' })).uuid],
  ['granting the role Webmaster to a group', 'PUT', (id) => `/groups/${id}`, ROLES, 200, async () => (await aGroup(app)).uuid],
  ['restoring a Webmaster', 'POST', (id) => `/users/${id}/restore`, undefined, 200, deleteWebmaster],
  ['an import with allow_privileged', 'POST', () => '/imports?allow_privileged=true', aFile(), 202],
  ['a profile with allow_privileged', 'PUT', () => '/import_profiles/x', { columns: { A: 'ExternalId' }, allow_privileged: true }, 200],
  ['a plan with allow_privileged', 'POST', (id) => `/imports/${id}/apply`, undefined, 202, () => importFile('&dry_run=true')],
  ['a revert with allow_privileged', 'POST', (id) => `/imports/${id}/revert`, undefined, 202, importFile],
];
// prettier-ignore
const ORDINARY: Row[] = [
  ['a new user', 'POST', () => '/users', aUser(), 201],
  ['a new phone number of a Webmaster', 'PUT', () => `/users/${user.uuid}`, { phone: '1' }, 200],
  ['an additional role of a Webmaster', 'PUT', () => `/users/${user.uuid}`, { roles: ['Editor', 'Webmaster'] }, 200],
  ['blocking a Webmaster', 'PUT', (id) => `/users/${id}`, { status: 'Blocked' }, 200, async () => (await create(app.key, ROLES)).uuid],
  ["a change of one's own password", 'PUT', () => `/users/${user.uuid}`, { password: PASSWORD, current_password: PASSWORD }, 200],
  ['a new plan', 'POST', () => '/imports?allow_privileged=true&dry_run=true', aFile(), 202],
];

test.each(SENSITIVE)('%s needs a confirmed session', async (...row) => {
  const [, method, toPath, body, status, prepare] = row;
  const path = toPath((await prepare?.()) ?? '');
  await setAge(10 * MINUTES + 1);
  expect(problemOf(await confirm(webmaster, 'wrong'))).toEqual([401, 'login_failed']);
  expect(problemOf(await send(webmaster, method, path, body))).toEqual([403, 'reauthentication_required']);
  expect((await confirm(webmaster)).status).toBe(204);
  const answer = await send(webmaster, method, path, body);
  expect(answer.status).toBe(status);
  if (status === 202) await awaitRun(app.key, answer.body.id);
});

test.each(ORDINARY)('%s needs no confirmation', async (...row) => {
  const [, method, toPath, body, status, prepare] = row;
  const path = toPath((await prepare?.()) ?? '');
  await setAge(60 * MINUTES);
  expect((await send(webmaster, method, path, body)).status).toBe(status);
});

test('a login confirms only its own session for 10 minutes', async () => {
  await setAge(10 * MINUTES - 5);
  expect((await webmaster.post('/users', aUser(ROLES))).status).toBe(201);
  await setAge(60 * MINUTES);
  expect((await confirm(await app.login(user.username, PASSWORD))).status).toBe(204);
  expect((await webmaster.post('/api_keys', { name: 'x' })).status).toBe(403);
});

test('a confirmation has the same limits as a login', async () => {
  const { user, client } = await aPerson(app);
  const login = { username: user.username, password: PASSWORD };
  const { headers } = await app.guest.post('/sessions/login', login, { 'sec-fetch-mode': 'cors' });
  const device = /rollcall_session_device=[^;]*/.exec(headers['set-cookie'] ?? '')?.[0] ?? '';
  for (let time = 0; time < 5; time++) expect((await confirm(client, 'wrong')).status).toBe(401);
  expect(problemOf(await confirm(client))).toEqual([429, 'login_throttled']);
  expect(problemOf(await app.guest.post('/sessions/login', login))).toEqual([429, 'login_throttled']);
  const cookie = `${client.headers['cookie'] ?? ''}; ${device}`;
  expect((await confirm(client, PASSWORD, { cookie })).status).toBe(204);
  const failures = await readAuditRows(app, user.uuid);
  expect(failures.filter(({ action }) => action === 'session.login_failed')).toHaveLength(1);
});
