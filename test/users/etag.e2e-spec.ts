import { beforeAll, describe, expect, test } from '@jest/globals';
import { startNewEpoch } from '../../src/operations/backup/start-new-epoch.js';
import { type TestApp, setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { aGroup } from '../support/app/groups.js';
import { PASSWORD, aPerson, databaseOf } from '../support/app/people.js';
import { refusalOf } from '../support/app/problems.js';
import { SCIM, aScimUser, scimOf } from '../support/app/scim.js';
import { patch, sendBulk } from '../support/app/scim-bulk.js';

const app = setUpApp();

const etagOf = async (uuid: string): Promise<string> =>
  (await app.key.get(`/users/${uuid}`)).headers['etag'] ?? '';
const GROUP_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const pathOf = ({ uuid }: Json): string => `/users/${uuid}`;

describe('GET with If-None-Match', () => {
  test('returns 304 only if the ETag matches', async () => {
    const user = await create(app.key);
    const etag = await etagOf(user.uuid);
    expect(etag).toMatch(/^"[^"]+"$/);
    for (const tags of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const answer = await app.key.get(pathOf(user), { 'if-none-match': tags });
      expect([answer.status, answer.text, answer.headers['etag']]).toEqual([304, '', etag]);
    }
    for (const tags of ['"other"', etag.slice(1, -1), '']) {
      const answer = await app.key.get(pathOf(user), { 'if-none-match': tags });
      expect([answer.status, answer.body]).toEqual([200, user]);
    }
  });

  test('also returns 304 for /users/me', async () => {
    const { client } = await aPerson(app);
    const me = await client.get('/users/me');
    expect((await client.get('/users/me', { 'if-none-match': me.headers['etag'] ?? '' })).status).toBe(304);
  });

  test('returns 200 after the user was changed', async () => {
    const user = await create(app.key);
    const before = await etagOf(user.uuid);
    const changed = await app.key.put(pathOf(user), { surname: 'Doe' });
    expect(changed.headers['etag']).not.toBe(before);
    const read = await app.key.get(pathOf(user), { 'if-none-match': before });
    expect([read.status, read.body.surname]).toEqual([200, 'Doe']);
    expect(read.headers['etag']).toBe(changed.headers['etag']);
  });

  test('ignores an ETag from a caller who sees more fields', async () => {
    const user = await create(app.key, { hide_email: true });
    const { client: colleague } = await aPerson(app);
    const answer = await colleague.get(pathOf(user), { 'if-none-match': await etagOf(user.uuid) });
    expect([answer.status, answer.body.email]).toEqual([200, '']);
  });

  test('returns 200 after a login of the user', async () => {
    const user = await create(app.key, { password: PASSWORD });
    const before = await etagOf(user.uuid);
    await app.login(user.username, PASSWORD);
    const answer = await app.key.get(pathOf(user), { 'if-none-match': before });
    expect([answer.status, typeof answer.body.last_access]).toEqual([200, 'string']);
  });
});

describe('PUT with If-Match', () => {
  test('accepts the current ETag, also in a list', async () => {
    const user = await create(app.key);
    const put = async (tag: string, surname: string) =>
      (await app.key.put(pathOf(user), { surname }, { 'if-match': tag })).status;
    expect(await put(await etagOf(user.uuid), 'a')).toBe(200);
    expect(await put('*', 'b')).toBe(200);
    expect(await put(`"x", ${await etagOf(user.uuid)}`, 'c')).toBe(200);
  });

  test('returns 412 for an outdated, unknown, weak or unquoted ETag', async () => {
    const user = await create(app.key);
    const stale = await etagOf(user.uuid);
    const { body } = await app.key.put(pathOf(user), { surname: 'a' });
    for (const tag of [stale, '"x"', `W/${await etagOf(user.uuid)}`, 'x']) {
      const answer = await app.key.put(pathOf(user), { surname: 'b' }, { 'if-match': tag });
      expect(refusalOf(answer)).toEqual([412, 'precondition_failed']);
    }
    expect((await app.key.get(pathOf(user))).body).toEqual(body);
  });
});

test('field errors of a PUT take precedence over conflicts and If-Match', async () => {
  const [user, other] = [await create(app.key), await create(app.key)];
  const unknown = '00000000-0000-0000-0000-000000000000';
  for (const [bad, expected] of [
    [{ manager_uuid: user.uuid }, 'manager_uuid self_reference'],
    [{ manager_uuid: unknown }, 'manager_uuid unknown_reference'],
    [{ roles: ['External user', 'Webmaster'] }, 'roles exclusive_roles'],
  ] as const) {
    const body = { ...bad, username: other.username };
    expect(refusalOf(await app.key.put(pathOf(user), body, { 'if-match': '"x"' }))).toEqual([422, expected]);
  }
});

const WITHOUT_TAGS = ['/status', '/users/search', '/imports/template.csv'];
test.each(WITHOUT_TAGS)('GET %s ignores If-None-Match', async (path) => {
  const { status, text } = await app.key.get(path, { 'if-none-match': '*' });
  expect([status, text !== '']).toEqual([200, true]);
});

describe('in a new epoch', () => {
  let later: TestApp;
  beforeAll(async () => {
    const { uuid } = await create(app.key);
    const group = await aGroup(app);
    await app.key.put('/import_profiles/tagged', { columns: { Nr: 'ExternalId' } });
    Object.assign(paths, {
      user: [`/api/0.3/users/${uuid}`, { surname: 'a' }],
      group: [`/api/0.3/groups/${group.uuid}`, { roles: ['Editor'] }],
      'import profile': ['/api/0.3/import_profiles/tagged', { columns: { Id: 'ExternalId' } }],
      'SCIM user': [`${SCIM}/Users/${uuid}`, aScimUser()],
      'SCIM group': [`${SCIM}/Groups/${group.uuid}`, { schemas: [GROUP_SCHEMA], displayName: 'New' }],
    });
    await startNewEpoch(databaseOf(app), 0);
    later = await app.startOther();
  });
  const paths: Record<string, [string, object]> = {};
  const send = (method: string, { key }: TestApp, name: string, headers: Record<string, string> = {}) => {
    const [path, body] = paths[name] ?? ['', {}];
    const text = method === 'PUT' ? JSON.stringify(body) : undefined;
    return key.fetchChecked(method, path, text, { 'content-type': 'application/json', ...headers });
  };

  test.each(['user', 'group', 'import profile', 'SCIM user', 'SCIM group'])(
    'the earlier ETag of the %s no longer matches',
    async (name) => {
      const before = (await send('GET', app, name)).headers['etag'] ?? '';
      const read = await send('GET', later, name, { 'if-none-match': before });
      const tag = read.headers['etag'] ?? '';
      expect([read.status, tag.replace('-1', '')]).toEqual([200, before]);
      expect(read.body.meta?.version ?? tag).toBe(tag);
      expect((await send('PUT', later, name, { 'if-match': before })).status).toBe(412);
      expect((await send('PUT', later, name, { 'if-match': tag.replace('-1', '-2') })).status).toBe(412);
      const changed = await send('PUT', later, name, { 'if-match': tag });
      expect([changed.status, changed.headers['etag']]).toEqual([200, expect.stringContaining('-1')]);
    },
  );

  test('a Bulk operation needs the version of the current epoch', async () => {
    const { uuid } = await create(later.key);
    const operations = ['W/"1"', 'W/"1-1"'].map((version) => ({ ...patch(uuid, 'title', 'b'), version }));
    const { body } = await sendBulk(scimOf(later), operations);
    expect(body.Operations).toEqual([
      expect.objectContaining({ status: '412' }),
      expect.objectContaining({ status: '200', version: 'W/"2-1"' }),
    ]);
  });
});
