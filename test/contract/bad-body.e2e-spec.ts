import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { setUpApp } from '../support/app/app.js';
import type { Answer } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { aGroup } from '../support/app/groups.js';
import { sendChunked } from '../support/app/raw.js';
import { ROUTES } from '../support/app/routes.js';
import { service } from '../support/jest/native.js';

/** All routes share one body reader. Two routes are tested with every fault, the others with one of each kind. */
const MIB = 1024 * 1024;
const typed = (type: string) => ({ 'content-type': type });
const app = setUpApp();
let target: { uuid: string; etag: string };
let group: string;

/** Fills a path with the ids of existing records. */
const fillPath = (path: string): string =>
  path.replace('{user_id}', target.uuid).replace('{group_id}', group).replace('{name}', 'nightly');

const readState = async () => {
  const user = await app.key.get(`/users/${target.uuid}`);
  const all = await app.key.get('/users/search?limit=1');
  return { count: all.body.Count as number, etag: user.headers['etag'] };
};

beforeAll(async () => {
  const { uuid } = await create(app.key);
  const { headers } = await app.key.get(`/users/${uuid}`);
  target = { uuid, etag: headers['etag'] ?? '' };
  group = (await aGroup(app)).uuid;
});
afterEach(async () => {
  expect(await readState()).toEqual({ count: 2, etag: target.etag });
});

const nestArrays = (levels: number) => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
/** A JSON string with bytes that are invalid in UTF-8. */
const LATIN1 = Buffer.from('{"username":"J\xe9r\xf4me"}', 'latin1');
const GZIP = { 'content-encoding': 'gzip' };

type Case = [what: string, code: string, body: string | Uint8Array, headers?: Record<string, string>];
const BODIES: Case[] = [
  ['an empty body', 'malformed_json', ''],
  ['a body of white space', 'malformed_json', ' \n'],
  ['an unclosed object', 'malformed_json', '{"username":"x"'],
  ['two objects', 'malformed_json', '{}{}'],
  ['an unescaped control character in a string', 'malformed_json', '{"username":"a\nb"}'],
  ['an array', 'malformed_json', '[{"username":"x"}]'],
  ['a string', 'malformed_json', '"username"'],
  ['null', 'malformed_json', 'null'],
  ['a body in UTF-16', 'malformed_json', Buffer.from('{"username":"x"}', 'utf16le')],
  ['invalid UTF-8', 'malformed_json', LATIN1],
  ['33 levels of nesting', 'malformed_json', nestArrays(33)],
  ['100,000 levels of nesting', 'malformed_json', nestArrays(100_000)],
  ['invalid gzip', 'malformed_json', '{}', GZIP],
  ['truncated gzip', 'malformed_json', gzipSync(nestArrays(5)).subarray(0, 15), GZIP],
  ['the media type text/plain', 'unsupported_media_type', '{}', typed('text/plain')],
  ['an empty media type', 'unsupported_media_type', '{}', typed('')],
  ['a merge patch', 'unsupported_media_type', '{}', typed('application/merge-patch+json')],
  ['application/jsonx', 'unsupported_media_type', '{}', typed('application/jsonx')],
  ['the charset ISO-8859-1', 'unsupported_media_type', LATIN1, typed('application/json; charset=iso-8859-1')],
  ['an unknown content encoding', 'unsupported_media_type', '{}', { 'content-encoding': 'compress' }],
  ['a body of 1 MiB plus one byte', 'too_large', `{"a":"${'x'.repeat(MIB - 7)}"}`],
  ['2 MiB of text/plain', 'unsupported_media_type', ' '.repeat(2 * MIB), typed('text/plain')],
  ['a gzip bomb', 'too_large', gzipSync(Buffer.alloc(100 * MIB, ' ')), GZIP],
  ['gzip of 1 MiB plus one byte', 'too_large', gzipSync(' '.repeat(MIB + 1)), GZIP],
];
const STATUS: Record<string, number> = { malformed_json: 400, too_large: 413, unsupported_media_type: 415 };

/** Codes of bodies that a login rejects earlier than other routes: its body must be small and uncompressed. */
const LOGIN_CODES: Record<string, string> = {
  '100,000 levels of nesting': 'too_large',
  'invalid gzip': 'unsupported_media_type',
  'truncated gzip': 'unsupported_media_type',
  'a gzip bomb': 'unsupported_media_type',
  'gzip of 1 MiB plus one byte': 'unsupported_media_type',
};

const expectRefused = ({ status, body, text }: Answer, code: string): void => {
  expect([status, body.code]).toEqual([STATUS[code], code]);
  expect(text).not.toContain('username'); // the response quotes nothing from the body
};

test.each(BODIES)('POST /users rejects %s with the code %s', async (_, code, body, headers = {}) => {
  expectRefused(await app.key.send('POST', '/users', body, headers), code);
});

test.each(BODIES)('POST /sessions/login rejects %s', async (what, code, body, headers = {}) => {
  expectRefused(await app.guest.send('POST', '/sessions/login', body, headers), LOGIN_CODES[what] ?? code);
});

describe.each(ROUTES.filter(({ hasBody }) => hasBody))('$method $path', ({ method, path }) => {
  test('rejects invalid bodies and unsupported media types', async () => {
    const send = (body?: string, headers?: Record<string, string>) =>
      app.key.send(method, fillPath(path), body, headers);
    expectRefused(await send('{"username":"x"'), 'malformed_json');
    expectRefused(await send('{}', typed('text/plain')), 'unsupported_media_type');
    expectRefused(await send(' '.repeat(2 * MIB)), 'too_large');
    // POST /imports also accepts files, and a body without a media type is not JSON.
    expectRefused(await send(), path === '/imports' ? 'unsupported_media_type' : 'malformed_json');
  });
});

test('a body without a Content-Type header is rejected with 415', async () => {
  const { status, text } = await sendChunked(app.url, 'POST', '/api/0.3/users', app.key.headers, ['{}']);
  expect([status, JSON.parse(text)]).toMatchObject([415, { code: 'unsupported_media_type' }]);
});

test.each([
  ['a chunked body of 2 MiB', 413, 'too_large', Array.from({ length: 32 }, () => ' '.repeat(65_536))],
  ['an empty chunked body', 400, 'malformed_json', []],
  [
    'a chunked body that ends in the middle of a character',
    400,
    'malformed_json',
    ['{"a":"', Buffer.from([0xe2, 0x82])],
  ],
])('%s is rejected with %d', async (_, status, code, chunks) => {
  const headers = { ...app.key.headers, 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
  const answer = await sendChunked(app.url, 'POST', '/api/0.3/users', headers, chunks);
  expect([answer.status, JSON.parse(answer.text)]).toMatchObject([status, { code }]);
});

test.each<[string, string | Uint8Array, Record<string, string>]>([
  ['the charset UTF-8', '{"bogus":1}', typed('application/json; charset=UTF-8')],
  ['a quoted charset', '{"bogus":1}', typed('Application/JSON;charset="utf-8"')],
  ['a byte order mark', '\ufeff{"bogus":1}', {}],
  ['1,000 brackets in a string', `{"bogus":"${'['.repeat(1000)}"}`, {}],
  ['gzip encoding', gzipSync('{"bogus":1}'), GZIP],
  ['deflate encoding', deflateSync('{"bogus":1}'), { 'content-encoding': 'Deflate' }],
  ['Brotli encoding', brotliCompressSync('{"bogus":1}'), { 'content-encoding': 'br' }],
  ['a size of exactly 1 MiB', `{"bogus":"${'x'.repeat(MIB - 12)}"}`, {}],
  ['gzip that expands to exactly 1 MiB', gzipSync(`{"bogus":"${'x'.repeat(MIB - 12)}"}`), GZIP],
])('a body with %s is parsed', async (_, body, headers) => {
  const { status, body: problem } = await app.key.send('POST', '/users', body, headers);
  expect([status, problem.code]).toEqual([422, 'validation_failed']);
  expect(problem.errors).toContainEqual(expect.objectContaining({ field: 'bogus', code: 'unknown_field' }));
});

test('one response reports all unknown keys of a body', async () => {
  const keys = ['__proto__', 'constructor', 'toString', '', 'Username', 'user name'];
  const members = keys.map((key) => `${JSON.stringify(key)}:{"roles":["Webmaster"],"username":"x"}`);
  const { status, body } = await app.key.send('POST', '/users', `{${members.join()}}`);
  expect([status, body.code]).toEqual([422, 'validation_failed']);
  const unknown = body.errors.filter(({ code }: { code: string }) => code === 'unknown_field');
  expect(unknown.map(({ field }: { field: string }) => field)).toEqual(keys);
  expect(Reflect.get(new service.Object(), 'roles')).toBeUndefined();
});
