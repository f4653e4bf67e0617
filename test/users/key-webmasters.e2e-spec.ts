import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Answer, Client, Json } from '../support/app/client.js';
import { aKey } from '../support/app/credentials.js';
import { aUser, create } from '../support/data/factories.js';
import { PASSWORD, aPerson } from '../support/app/people.js';
import { countsOf, csv, runImport, awaitRun, upload } from '../support/app/imports.js';

/** An API key without the scope `webmasters` cannot change a user who is a Webmaster before or after the change. */
const app = setUpApp();
let narrow: Client;
let boss: Json;
let member: Json;
beforeAll(async () => {
  narrow = (await aKey(app, 'users:read', 'users:write', 'imports:read', 'imports:write')).client;
});
beforeEach(async () => {
  const external_id = crypto.randomUUID();
  boss = await create(app.key, { roles: ['Webmaster'], password: PASSWORD, external_id });
  member = await create(app.key, { external_id: crypto.randomUUID() });
});

const pathOf = ({ uuid }: Json) => `/users/${uuid as string}`;
const needs = (scope: string) => [403, 'insufficient_scope', expect.stringContaining(scope)];
const REFUSED = needs('webmasters');
const errorOf = ({ status, body }: Answer) => [status, body.code, body.detail];

describe('a key without the webmasters scope', () => {
  test.each<[string, object]>([
    ['password', { password: 'taken over by a key' }],
    ['phone', { phone: '1' }],
    ['roles, reset to the default', { roles: null }],
    ['email, with an invalid phone', { email: 'taken.over@example.org', phone: 5 }],
  ])('cannot change a Webmaster: %s', async (_, body) => {
    const before = (await app.key.get(pathOf(boss))).body;
    expect(errorOf(await narrow.put(pathOf(boss), body))).toEqual(REFUSED);
    expect((await app.key.get(pathOf(boss))).body).toEqual(before);
    expect((await app.login(boss.username, PASSWORD)).headers['cookie']).toBeDefined();
  });

  test.each(['Webmaster', 'WEBMASTER'])('cannot assign the role %s', async (role) => {
    expect(errorOf(await narrow.put(pathOf(member), { roles: [role] }))).toEqual(REFUSED);
    expect(errorOf(await narrow.post('/users', aUser({ roles: [role] })))).toEqual(REFUSED);
    expect(errorOf(await narrow.post('/users', aUser({ roles: [role], phone: 5 })))).toEqual(REFUSED);
  });

  test('cannot reactivate a blocked Webmaster', async () => {
    await app.key.put(pathOf(boss), { status: 'Blocked' });
    expect(errorOf(await narrow.put(pathOf(boss), { status: 'Active' }))).toEqual(REFUSED);
  });

  test('cannot end the sessions of a Webmaster', async () => {
    const { user: person, client } = await aPerson(app, { roles: ['Webmaster'] });
    const { Results } = (await app.key.get(`/sessions?user_uuid=${person.uuid as string}`)).body;
    expect(errorOf(await narrow.delete(`/sessions/${Results[0].id as string}`))).toEqual(REFUSED);
    expect(errorOf(await narrow.delete(`${pathOf(person)}/sessions`))).toEqual(REFUSED);
    expect((await client.get('/users/me')).status).toBe(200);
  });

  test('can change other users', async () => {
    const change = { email: 'new@example.org', status: 'Blocked' };
    expect((await narrow.put(pathOf(member), change)).status).toBe(200);
    expect((await narrow.post('/users', aUser({ roles: ['Editor'] }))).status).toBe(201);
    const { user: person, client } = await aPerson(app);
    expect((await narrow.delete(`${pathOf(person)}/sessions`)).status).toBe(204);
    expect((await client.get('/users/me')).status).toBe(401);
  });

  test('can PUT a Webmaster with unchanged values', async () => {
    const { body } = await narrow.get(pathOf(boss));
    const answer = await narrow.put(pathOf(boss), body);
    expect([answer.status, answer.body]).toEqual([200, body]);
  });
});

test('changing a Webmaster needs the scopes users:write and webmasters', async () => {
  const { client: wider } = await aKey(app, 'users:write', 'webmasters');
  expect((await wider.put(pathOf(boss), { phone: '1' })).status).toBe(200);
  expect((await wider.put(pathOf(member), { roles: ['Webmaster'] })).status).toBe(200);
  const { client: alone } = await aKey(app, 'webmasters');
  expect(errorOf(await alone.put(pathOf(boss), { phone: '2' }))).toEqual(needs('users:write'));
});

describe('without the webmasters scope', () => {
  const HEAD = 'ExternalId,Username,Email';
  const buildRow = ({ external_id, username, email }: Json, ...more: string[]) =>
    [external_id, username, email, ...more].join(',');

  test('an import with allow_privileged is rejected', async () => {
    const file = csv(`${HEAD},Roles`, buildRow(member, 'Webmaster'));
    expect(errorOf(await upload(narrow, file, 'allow_privileged=true'))).toEqual(REFUSED);
    const planned = await runImport(app.key, file, 'allow_privileged=true&dry_run=true');
    expect(planned).toMatchObject({ state: 'planned', counts: { updated: 1 } });
    expect(errorOf(await narrow.post(`/imports/${planned.id as string}/apply`))).toEqual(REFUSED);
    expect((await app.key.get(pathOf(member))).body.roles).not.toContain('Webmaster');
  });

  test('an import changes only unprotected fields of a Webmaster', async () => {
    const file = csv(`${HEAD},Phone`, buildRow(boss, '1'), buildRow(member, '1'));
    expect(countsOf(await runImport(narrow, file))).toEqual({ updated: 2 });
    const taken = csv(HEAD, buildRow({ ...boss, email: 'taken.over@example.org' }), buildRow(member));
    const run = await runImport(narrow, taken);
    expect(countsOf(run)).toEqual({ error: 1, unchanged: 1 });
    expect(run.problems).toMatchObject([{ line: 2, field: 'email', code: 'privileged_user' }]);
    expect((await app.key.get(pathOf(boss))).body).toMatchObject({ email: boss.email, phone: '1' });
  });

  test('a revert restores only unprotected fields of a Webmaster', async () => {
    const rows = (email: string) =>
      csv(`${HEAD},Phone`, buildRow({ ...boss, email }, '7'), buildRow(member, '7'));
    const { id } = await runImport(app.key, rows(`new-${boss.email as string}`), 'allow_privileged=true');
    const revert = async (client: Client, query = ''): Promise<Json> =>
      awaitRun(app.key, (await client.post(`/imports/${id as string}/revert${query}`)).body.id);
    const planned = await revert(app.key, '?dry_run=true');
    expect(countsOf(planned)).toEqual({ updated: 2 });
    expect(errorOf(await narrow.post(`/imports/${planned.id as string}/apply`))).toEqual(REFUSED);
    const refused = await revert(narrow, '?dry_run=true');
    expect(countsOf(refused)).toEqual({ error: 1, updated: 1 });
    expect(refused.problems).toMatchObject([{ field: 'email', code: 'privileged_user' }]);
    expect((await app.key.get(pathOf(boss))).body.email).toBe(`new-${boss.email as string}`);
    expect(countsOf(await revert(app.key))).toEqual({ updated: 2 });
    expect((await app.key.get(pathOf(boss))).body.email).toBe(boss.email);
  });
});
