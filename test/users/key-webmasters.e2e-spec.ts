import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import type { Answer, Client, Json } from '../support/app/client.js';
import { aUser, create } from '../support/data/factories.js';
import { PASSWORD, aPerson } from '../support/app/people.js';
import { counted, csv, imported, settled, upload } from '../support/app/imports.js';

/** A key without the scope `webmasters` changes nothing of a user who is a Webmaster before the change or after it. */
let app: TestApp;
let narrow: Client;
let boss: Json;
let member: Json;
beforeAll(async () => {
  app = await TestApp.start();
  narrow = await keyWith('users:read', 'users:write', 'imports:read', 'imports:write');
});
afterAll(() => app.end());
beforeEach(async () => {
  boss = await create(app.key, {
    roles: ['Webmaster'],
    password: PASSWORD,
    external_id: crypto.randomUUID(),
  });
  member = await create(app.key, { external_id: crypto.randomUUID() });
});

async function keyWith(...scopes: string[]): Promise<Client> {
  const { body } = await app.key.post('/api_keys', { name: 'narrow', scopes });
  return app.nobody.with({ 'x-api-key': body.key as string });
}
const user = ({ uuid }: Json) => `/users/${uuid as string}`;
const REFUSED = [403, 'insufficient_scope', expect.stringContaining('webmasters')];
const refusal = ({ status, body }: Answer) => [status, body.code, body.detail];

describe('over the API', () => {
  test.each<[string, object]>([
    ['a password', { password: 'taken over by a key' }],
    ['a phone', { phone: '1' }],
    ['no roles, which are the default ones', { roles: null }],
    ['an address and a mistake elsewhere', { email: 'taken.over@example.org', phone: 5 }],
  ])('%s of a Webmaster', async (_, body) => {
    const before = (await app.key.get(user(boss))).body;
    expect(refusal(await narrow.put(user(boss), body))).toEqual(REFUSED);
    expect((await app.key.get(user(boss))).body).toEqual(before);
    expect((await app.login(boss.username, PASSWORD)).headers['cookie']).toBeDefined();
  });

  test.each(['Webmaster', 'WEBMASTER'])('granting the role %s to another user', async (role) => {
    expect(refusal(await narrow.put(user(member), { roles: [role] }))).toEqual(REFUSED);
    expect(refusal(await narrow.post('/users', aUser({ roles: [role] })))).toEqual(REFUSED);
    expect(refusal(await narrow.post('/users', aUser({ roles: [role], phone: 5 })))).toEqual(REFUSED);
  });

  test('a blocked Webmaster, who would be one again', async () => {
    await app.key.put(user(boss), { status: 'Blocked' });
    expect(refusal(await narrow.put(user(boss), { status: 'Active' }))).toEqual(REFUSED);
  });

  test('sessions of a Webmaster', async () => {
    const { user: person, client } = await aPerson(app, { roles: ['Webmaster'] });
    const { Results } = (await app.key.get(`/sessions?user_uuid=${person.uuid as string}`)).body;
    expect(refusal(await narrow.delete(`/sessions/${Results[0].id as string}`))).toEqual(REFUSED);
    expect(refusal(await narrow.delete(`${user(person)}/sessions`))).toEqual(REFUSED);
    expect((await client.get('/users/me')).status).toBe(200);
  });

  test('everybody else is its own to change', async () => {
    expect((await narrow.put(user(member), { email: 'new@example.org', status: 'Blocked' })).status).toBe(
      200,
    );
    expect((await narrow.post('/users', aUser({ roles: ['Editor'] }))).status).toBe(201);
    const { user: person, client } = await aPerson(app);
    expect((await narrow.delete(`${user(person)}/sessions`)).status).toBe(204);
    expect((await client.get('/users/me')).status).toBe(401);
  });

  test('a Webmaster may be read, and sent back as read', async () => {
    const { body } = await narrow.get(user(boss));
    const answer = await narrow.put(user(boss), body);
    expect([answer.status, answer.body]).toEqual([200, body]);
  });

  test('with the scope it may all of it; the scope alone is of no use', async () => {
    const wider = await keyWith('users:write', 'webmasters');
    expect((await wider.put(user(boss), { phone: '1' })).status).toBe(200);
    expect((await wider.put(user(member), { roles: ['Webmaster'] })).status).toBe(200);
    const alone = await keyWith('webmasters');
    expect(refusal(await alone.put(user(boss), { phone: '2' }))).toEqual([
      403,
      'insufficient_scope',
      expect.stringContaining('users:write'),
    ]);
  });
});

describe('over a file', () => {
  const HEAD = 'ExternalId,Username,Email';
  const row = ({ external_id, username, email }: Json, ...more: string[]) =>
    [external_id, username, email, ...more].join(',');

  test('allow_privileged needs the scope, for the upload and for the approval', async () => {
    const file = csv(`${HEAD},Roles`, row(member, 'Webmaster'));
    expect(refusal(await upload(narrow, file, 'allow_privileged=true'))).toEqual(REFUSED);
    const form = 'allow_privileged=true&dry_run=true';
    const planned = await imported(app.key, file, form);
    expect(planned).toMatchObject({ state: 'planned', counts: { updated: 1 } });
    expect(refusal(await narrow.post(`/imports/${planned.id as string}/apply`))).toEqual(REFUSED);
    expect((await app.key.get(user(member))).body.roles).not.toContain('Webmaster');
  });

  test('rows are judged alike by the plan and by the writer', async () => {
    const file = csv(`${HEAD},Phone`, row(boss, '1'), row(member, '1'));
    for (const query of ['dry_run=true', '']) {
      const run = await imported(narrow, file, query);
      expect(counted(run)).toEqual({ error: 1, updated: 1 });
      expect(run.problems).toMatchObject([{ line: 2, code: 'insufficient_scope' }]);
    }
    expect((await app.key.get(user(boss))).body.phone).toBe('');
    expect((await app.key.get(user(member))).body.phone).toBe('1');
  });

  test('an approval lends no right that the approver lacks', async () => {
    const planned = await imported(app.key, csv(`${HEAD},Phone`, row(boss, '1')), 'dry_run=true');
    expect(counted(planned)).toEqual({ updated: 1 });
    expect((await narrow.post(`/imports/${planned.id as string}/apply`)).status).toBe(202);
    expect((await settled(app.key, planned.id)).state).toBe('superseded');
    expect((await app.key.get(user(boss))).body.phone).toBe('');
  });

  test('a row that changes nothing of a Webmaster is unchanged', async () => {
    expect(counted(await imported(narrow, csv(HEAD, row(boss))))).toEqual({ unchanged: 1 });
  });

  test('what a full key has done to a Webmaster, it does not undo', async () => {
    const run = await imported(app.key, csv(`${HEAD},Phone`, row(boss, '7'), row(member, '7')));
    const { body } = await narrow.post(`/imports/${run.id as string}/revert`);
    const reverted = await settled(app.key, body.id);
    expect(counted(reverted)).toEqual({ error: 1, updated: 1 });
    expect((await app.key.get(user(boss))).body.phone).toBe('7');
    expect((await app.key.get(user(member))).body.phone).toBe('');
  });
});
