import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { TestApp } from '../support/app/app.js';
import type { Answer } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { aGroup } from '../support/app/groups.js';
import { sendChunked } from '../support/app/raw.js';
import { ROUTES } from '../support/app/routes.js';

const MIB = 1024 * 1024;
const JSON_TYPE = { 'content-type': 'application/json' };
let app: TestApp;
let target: { uuid: string; etag: string };
let group: string;

/** A path with records that there are. */
const filled = (path: string): string =>
  path.replace('{user_id}', target.uuid).replace('{group_id}', group).replace('{name}', 'nightly');

const state = async () => {
  const user = await app.key.get(`/users/${target.uuid}`);
  const all = await app.key.get('/users/search?limit=1');
  return { count: all.body.Count as number, etag: user.headers['etag'] };
};

beforeAll(async () => {
  app = await TestApp.start();
  const { uuid } = await create(app.key);
  const { headers } = await app.key.get(`/users/${uuid}`);
  target = { uuid, etag: headers['etag'] ?? '' };
  group = (await aGroup(app)).uuid;
});
afterEach(async () => {
  expect(await state()).toEqual({ count: 2, etag: target.etag });
});
afterAll(() => app.end());

const nested = (levels: number) => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
/** Bytes that are invalid in UTF-8, inside a text. */
const LATIN1 = Buffer.from('{"username":"J\xe9r\xf4me"}', 'latin1');

type Case = [string, string, string | Uint8Array, Record<string, string>?];
const BODIES: Case[] = [
  ['an empty body', 'malformed_json', ''],
  ['white space', 'malformed_json', ' \n'],
  ['an open object', 'malformed_json', '{"username":"x"'],
  ['a comma too many', 'malformed_json', '{"username":"x",}'],
  ['single quotes', 'malformed_json', "{'username':'x'}"],
  ['two objects', 'malformed_json', '{}{}'],
  ['a control character in a text', 'malformed_json', '{"username":"a\nb"}'],
  ['NaN', 'malformed_json', '{"username":NaN}'],
  ['an array', 'malformed_json', '[{"username":"x"}]'],
  ['a text', 'malformed_json', '"username"'],
  ['a number', 'malformed_json', '1'],
  ['true', 'malformed_json', 'true'],
  ['null', 'malformed_json', 'null'],
  ['UTF-16', 'malformed_json', Buffer.from('{"username":"x"}', 'utf16le')],
  ['bytes that are not UTF-8', 'malformed_json', LATIN1],
  ['33 levels', 'malformed_json', nested(33)],
  ['100,000 levels', 'malformed_json', nested(100_000)],
  ['100,000 open brackets', 'malformed_json', '['.repeat(100_000)],
  ['100,000 open objects', 'malformed_json', '{"a":'.repeat(100_000)],
  ['invalid gzip', 'malformed_json', '{}', { 'content-encoding': 'gzip' }],
  [
    'gzip that breaks off',
    'malformed_json',
    gzipSync(nested(5)).subarray(0, 15),
    { 'content-encoding': 'gzip' },
  ],
  [
    'form data',
    'unsupported_media_type',
    'username=x',
    { 'content-type': 'application/x-www-form-urlencoded' },
  ],
  ['text', 'unsupported_media_type', '{}', { 'content-type': 'text/plain' }],
  ['an empty media type', 'unsupported_media_type', '{}', { 'content-type': '' }],
  ['a patch', 'unsupported_media_type', '{}', { 'content-type': 'application/merge-patch+json' }],
  ['a type that begins alike', 'unsupported_media_type', '{}', { 'content-type': 'application/jsonx' }],
  [
    'another character set',
    'unsupported_media_type',
    LATIN1,
    { 'content-type': 'application/json; charset=iso-8859-1' },
  ],
  ['an unknown encoding', 'unsupported_media_type', '{}', { 'content-encoding': 'compress' }],
  ['1 MiB and a byte', 'too_large', `{"a":"${'x'.repeat(MIB - 7)}"}`],
  ['2 MiB', 'too_large', ' '.repeat(2 * MIB)],
  ['2 MiB of another type', 'unsupported_media_type', ' '.repeat(2 * MIB), { 'content-type': 'text/plain' }],
  ['a gzip bomb', 'too_large', gzipSync(Buffer.alloc(100 * MIB, ' ')), { 'content-encoding': 'gzip' }],
  ['gzip of 1 MiB and a byte', 'too_large', gzipSync(' '.repeat(MIB + 1)), { 'content-encoding': 'gzip' }],
];
const STATUS: Record<string, number> = { malformed_json: 400, too_large: 413, unsupported_media_type: 415 };

const isLogin = (path: string): boolean => path === '/sessions/login';
/** A login is small and not compressed: those are refused earlier than on other routes. */
const OF_A_LOGIN: Record<string, string> = {
  '33 levels': 'malformed_json',
  '100,000 levels': 'too_large',
  '100,000 open brackets': 'too_large',
  '100,000 open objects': 'too_large',
  'invalid gzip': 'unsupported_media_type',
  'gzip that breaks off': 'unsupported_media_type',
  'a gzip bomb': 'unsupported_media_type',
  'gzip of 1 MiB and a byte': 'unsupported_media_type',
};

const LARGER: [string, string | Uint8Array, Record<string, string>][] = [
  ['gzip', gzipSync('{"bogus":1}'), { 'content-encoding': 'gzip' }],
  ['deflate', deflateSync('{"bogus":1}'), { 'content-encoding': 'Deflate' }],
  ['br', brotliCompressSync('{"bogus":1}'), { 'content-encoding': 'br' }],
  ['exactly 1 MiB', `{"bogus":"${'x'.repeat(MIB - 12)}"}`, {}],
  ['gzip of exactly 1 MiB', gzipSync(`{"bogus":"${'x'.repeat(MIB - 12)}"}`), { 'content-encoding': 'gzip' }],
];

describe.each(ROUTES.filter(({ hasBody }) => hasBody))('$method $path', ({ method, path }) => {
  const send = (body?: string | Uint8Array, headers: Record<string, string> = {}): Promise<Answer> =>
    app.key.send(method, filled(path), body, headers);

  test.each(BODIES)('refuses %s as %s', async (what, usual, body, headers = {}) => {
    const code = (isLogin(path) ? OF_A_LOGIN[what] : undefined) ?? usual;
    const answer = await send(body, headers);
    expect([answer.status, answer.body.code]).toEqual([STATUS[code], code]);
    expect(answer.text).not.toContain('username'); // nothing of the body comes back
  });

  test('needs a body', async () => {
    const answer = await send();
    expect([answer.status, answer.body.code]).toEqual([400, 'malformed_json']);
  });

  test('needs a media type', async () => {
    const full = `/api/0.3${filled(path)}`;
    const { status, text } = await sendChunked(app.url, method, full, app.key.headers, ['{}']);
    expect([status, JSON.parse(text)]).toMatchObject([415, { code: 'unsupported_media_type' }]);
  });

  test.each([
    ['2 MiB in chunks', 413, 'too_large', Array.from({ length: 32 }, () => ' '.repeat(65_536))],
    ['chunks without content', 400, 'malformed_json', []],
    [
      'a character cut between chunks and never ended',
      400,
      'malformed_json',
      ['{"a":"', Buffer.from([0xe2, 0x82])],
    ],
  ])('refuses %s', async (_, status, code, chunks) => {
    const full = `/api/0.3${filled(path)}`;
    const headers = { ...app.key.headers, ...JSON_TYPE, 'transfer-encoding': 'chunked' };
    const answer = await sendChunked(app.url, method, full, headers, chunks);
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([status, { code }]);
  });

  test.each<[string, string | Uint8Array, Record<string, string>]>([
    ['a charset', '{"bogus":1}', { 'content-type': 'application/json; charset=UTF-8' }],
    ['a quoted charset', '{"bogus":1}', { 'content-type': 'Application/JSON;charset="utf-8"' }],
    ['a byte order mark', '\ufeff{"bogus":1}', {}],
    ['brackets in a text', `{"bogus":"${'['.repeat(1000)}"}`, {}],
    ...(isLogin(path) ? [] : LARGER),
  ])('reads a body with %s', async (_, body, headers) => {
    const { status, body: problem } = await send(body, headers);
    expect([status, problem.code]).toEqual([422, 'validation_failed']);
    expect(problem.errors).toContainEqual(expect.objectContaining({ field: 'bogus', code: 'unknown_field' }));
  });

  test.each([
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    '',
    'Username',
    'password_hash',
    'user name',
  ])('names the unknown key %j', async (key) => {
    const { status, body } = await send(`{${JSON.stringify(key)}:{"roles":["Webmaster"],"username":"x"}}`);
    expect([status, body.code]).toEqual([422, 'validation_failed']);
    expect(body.errors).toContainEqual({ field: key, code: 'unknown_field', message: expect.any(String) });
    expect(({} as Record<string, unknown>)['roles']).toBeUndefined();
  });

  test('reports all unknown keys at once', async () => {
    const { body } = await send('{"one":1,"two":2}');
    const unknown = body.errors.filter(({ code }: { code: string }) => code === 'unknown_field');
    expect(unknown.map(({ field }: { field: string }) => field)).toEqual(['one', 'two']);
  });
});

/** Unordered marks on one letter: sorting them takes quadratic time, here minutes. */
const OVERLOADED = `a${'\u0301'.repeat(200_000)}${'\u0316'.repeat(200_000)}`;

test.each([
  ['/users', { username: 'marks', email: 'marks@example.org', about_me: OVERLOADED }, 'about_me'],
  ['/users', { username: 'marks', email: 'marks@example.org', password: OVERLOADED }, 'password'],
  ['/users', { username: 'marks', email: 'marks@example.org', external_id: OVERLOADED }, 'external_id'],
  ['/api_keys', { name: OVERLOADED }, 'name'],
])('%s refuses a text with more marks in a row than any script uses (%#)', async (path, body, field) => {
  const answer = await app.key.post(path, body);
  expect(answer.status).toBe(422);
  expect(answer.body.errors).toMatchObject([
    { field, code: expect.stringMatching(/^(too_long|invalid_format)$/) },
  ]);
});
