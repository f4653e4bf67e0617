import { beforeAll, expect, test } from '@jest/globals';
import { formatNames } from '../../src/users/accepted-fields.js';
import { setUpApp } from '../support/app/app.js';
import type { Client } from '../support/app/client.js';
import { aUser, create } from '../support/data/factories.js';
import { aKeyWith } from '../support/app/credentials.js';
import { refusalOf } from '../support/app/problems.js';

/** Unknown fields in requests of an API key that was created with `unknown_fields: ignore`. */
const app = setUpApp();
let lenient: Client;
beforeAll(async () => void (lenient = (await aKeyWith(app, { unknown_fields: 'ignore' })).client));

const readCounter = async (): Promise<number> => {
  const { text } = await app.guest.fetch('GET', '/metrics');
  return Number(/^rollcall_ignored_fields_total (\d+)$/m.exec(text)?.[1]);
};

test('X-Ignored-Fields lists the unknown fields that an API key ignores', async () => {
  const before = await readCounter();
  const created = await lenient.post('/users', aUser({ department: 'Sales', cost_center: 7, phone: '1' }));
  expect([created.status, created.headers['x-ignored-fields']]).toEqual([201, 'department, cost_center']);
  const changed = await lenient.put(`/users/${created.body.uuid as string}`, { emial: 'x', surname: 'Doe' });
  expect([changed.status, changed.headers['x-ignored-fields']]).toEqual([200, 'emial']);
  expect(changed.body).toMatchObject({ phone: '1', surname: 'Doe' });
  expect(await readCounter()).toBe(before + 3);
});

test('an API key that ignores unknown fields still rejects invalid values', async () => {
  const answer = await lenient.post('/users', aUser({ department: 'Sales', phone: 5 }));
  expect(refusalOf(answer)).toEqual([422, 'phone invalid_type']);
  expect(answer.headers['x-ignored-fields']).toBe('department');
  const withUuid = aUser({ uuid: crypto.randomUUID() });
  expect(refusalOf(await lenient.post('/users', withUuid))).toEqual([422, 'uuid unknown_field']);
});

test('unknown query parameters and fields of POST /api_keys are never ignored', async () => {
  expect(refusalOf(await lenient.get('/users/search?department=x'))).toEqual([400, 'invalid_parameter']);
  const refused = await lenient.post('/api_keys', { name: 'x', colour: 'red' });
  expect(refusalOf(refused)).toEqual([422, 'colour unknown_field']);
});

test('a PUT with an unknown social network keeps the stored networks', async () => {
  const linkedin = 'https://www.linkedin.com/in/example';
  const { uuid } = await create(app.key, { social_media: { linkedin } });
  const path = `/users/${uuid as string}`;
  const only = await lenient.put(path, { social_media: { mastodon: 'https://example.social/@x' } });
  expect([only.status, only.headers['x-ignored-fields']]).toEqual([200, 'social_media.mastodon']);
  expect(only.body.social_media).toMatchObject({ linkedin });
  const both = await lenient.put(path, { social_media: { mastodon: 'x', linkedin: `${linkedin}2` } });
  expect(both.body.social_media).toMatchObject({ linkedin: `${linkedin}2` });
  const none = await lenient.put(path, { social_media: {} });
  expect(none.body.social_media ?? {}).not.toHaveProperty('linkedin');
});

test('X-Ignored-Fields lists at most 50 names and replaces unsafe characters', async () => {
  const unsafe = ['a b', 'x\r\nSet-Cookie: y=1', 'naïve', ''];
  const names = ['__proto__', ...unsafe, 'then', 'constructor', 'n'.repeat(500)];
  const many = Array.from({ length: 5000 }, (_, n) => `field_${n}`);
  const body = `{${[...names, ...many].map((name) => `${JSON.stringify(name)}:1`).join(',')},"surname":"Doe"}`;
  const { uuid } = await create(app.key);
  const answer = await lenient.send('PUT', `/users/${uuid as string}`, body);
  expect([answer.status, answer.body.surname]).toEqual([200, 'Doe']);
  const header = answer.headers['x-ignored-fields'] ?? '';
  expect(header).toMatch(
    /^__proto__, a\?b, x\?\?Set-Cookie\?\?y\?1, na\?ve, \?, then, constructor, n{64}, field_0, /,
  );
  expect(header).toMatch(/, \+\d+$/);
  const parts = header.split(', ');
  expect(parts).toHaveLength(51);
  expect(50 + Number(parts.at(-1))).toBe(names.length + many.length);
});

test('an idempotent retry repeats the header X-Ignored-Fields', async () => {
  const headers = { 'idempotency-key': crypto.randomUUID() };
  const body = aUser({ department: 'Sales' });
  const first = await lenient.post('/users', body, headers);
  const again = await lenient.post('/users', body, headers);
  expect(again.body).toEqual(first.body);
  expect(again.headers['x-ignored-fields']).toBe('department');
});

test('X-Ignored-Fields replaces each emoji by a question mark', () => {
  expect(formatNames(['a\ud800b', '😀'])).toBe('a?b, ?');
});
