import { beforeAll, describe, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Answer, Json } from '../support/app/client.js';
import { aUser, create } from '../support/data/factories.js';
import { csv, runImport, rowsOf } from '../support/app/imports.js';
import { refusalOf } from '../support/app/problems.js';
import { aScimUser, scimOf } from '../support/app/scim.js';

/**
 * `unit/user-text` tests which texts a field rejects. This file tests that every kind of input follows these rules.
 */
const app = setUpApp();
let user: Json;
beforeAll(async () => void (user = await create(app.key)));

const search = (query: string) => app.key.get(`/users/search?${query}`);
const WAYS: [way: string, send: (text: string) => Promise<Answer>, status: number, code: string][] = [
  ['a surname in a POST', (surname) => app.key.post('/users', aUser({ surname })), 422, 'surname'],
  ['a surname in a PUT', (surname) => app.key.put(`/users/${user.uuid}`, { surname }), 422, 'surname'],
  ['the name of an API key', (name) => app.key.post('/api_keys', { name }), 422, 'name'],
  [
    'the header X-Audit-Reason',
    (reason) =>
      app.key.put(`/users/${user.uuid}`, { phone: '1' }, { 'x-audit-reason': encodeURIComponent(reason) }),
    400,
    'invalid_parameter',
  ],
  [
    'the familyName of a SCIM user',
    (familyName) => scimOf(app).post('/Users', aScimUser({ name: { familyName } })),
    400,
    'invalidValue',
  ],
];
describe.each(WAYS)('%s', (_, send, status, code) => {
  test.each(['a\0b', 'ad\u202emin'])('rejects the forbidden character in %j', async (text) => {
    const { etag } = (await app.key.get(`/users/${user.uuid}`)).headers;
    const answer = await send(text);
    const fields = ((answer.body.errors ?? []) as Json[]).map(({ field }) => field);
    expect([answer.status, fields[0] ?? answer.body.scimType ?? answer.body.code]).toEqual([status, code]);
    expect((await app.key.get(`/users/${user.uuid}`)).headers['etag']).toBe(etag);
  });
});

test('an import and the API report the same invisible-character error', async () => {
  const surname = 'ad\u202emin';
  const { body } = await app.key.post('/users', aUser({ surname }));
  const file = csv('ExternalId,Username,Email,Surname', `F1,file-user,file@example.org,${surname}`);
  const [planned] = await rowsOf(app.key, (await runImport(app.key, file, 'dry_run=true')).id);
  const [{ field, code, message }] = body.errors;
  expect({ field, code }).toEqual({ field: 'surname', code: 'invisible_character' });
  expect(planned.errors).toEqual([expect.objectContaining({ field, code, message })]);
});

test('a control character returns 400 in a query and 404 in a path', async () => {
  expect(refusalOf(await search('surname=a%00b'))).toEqual([400, 'invalid_parameter']);
  expect((await app.key.get('/import_profiles/a%00b')).status).toBe(404);
});

test('an import of an equivalent URL changes nothing', async () => {
  const row = (url: string) =>
    csv('ExternalId,Username,Email,ImageUrl,Twitter', `U1,url,url@example.org,${url},${url}`);
  expect((await runImport(app.key, row('HTTP://Example.org'), '')).counts.created).toBe(1);
  const { Results } = (await search('external_id=U1')).body;
  expect(Results).toMatchObject([
    { user_avatar: 'http://example.org/', social_media: { twitter: 'http://example.org/' } },
  ]);
  for (const url of ['HTTP://Example.org', 'http://example.org/', 'http://EXAMPLE.org:80'])
    expect((await runImport(app.key, row(url), '')).counts).toMatchObject({ unchanged: 1, updated: 0 });
});

test('importing an export with escaped formulas changes nothing', async () => {
  const names = ['＝1+1', '＋44', '－1', '＠sum', '=1', "'＝x", "'+1", '@x', '-1'];
  for (const [index, surname] of names.entries())
    await create(app.key, { surname, known_as: surname, external_id: `${surname}${index}`, phone: surname });
  const { text } = await app.key.get('/users/export.csv');
  expect(text).not.toMatch(/(^|[,\n"])[=+\-@\t\uff1d\uff0b\uff0d\uff20]/);
  const run = await runImport(app.key, text, 'dry_run=true');
  const rows = text.trimEnd().split('\r\n').length - 1;
  expect(run.counts).toMatchObject({ unchanged: rows, updated: 0, created: 0, error: 0 });
});
