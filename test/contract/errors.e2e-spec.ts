import { beforeAll, expect, jest, test } from '@jest/globals';
import { CATALOGUE } from '../../src/platform/common/errors.js';
import { Log } from '../../src/platform/telemetry/log.js';
import type { Database } from '../../src/platform/database/engine/database.js';
import { setUpApp } from '../support/app/app.js';
import type { Answer, Client } from '../support/app/client.js';
import { aKey } from '../support/app/credentials.js';
import { withEndlessCount } from '../support/app/endless-count.js';
import { UNKNOWN, aUser, create } from '../support/data/factories.js';
import { runImport } from '../support/app/imports.js';
import { REST_ERRORS, SCIM_ONLY } from '../support/app/scim-only.js';
import { sendForResponse } from '../support/app/raw.js';
import { DatabaseError } from '../../src/platform/database/engine/database-error.js';
import { loseCommit } from '../support/app/lost-commit.js';
import { inSeconds, databaseOf } from '../support/app/people.js';

const RATE = 300;
const PASSWORD = 'a good password';
const app = setUpApp({
  HASH_QUEUE_LIMIT: '1',
  REQUEST_TIMEOUT_SECONDS: '1',
  SEARCH_TIMEOUT: '0.1',
  RATE_LIMIT_PER_MINUTE: String(RATE),
  FUSE_MIN: '1',
  FUSE_PERCENT: '0',
});
let webmaster: Client;
let member: Client;
let ids: { admin: string; member: string; other: string };
const faults = jest.fn<Log['logFault']>();

beforeAll(async () => {
  webmaster = await app.login();
  const { uuid, username } = await create(app.key, { password: PASSWORD });
  member = await app.login(username as string, PASSWORD);
  const other = await create(app.key, {
    username: 'taken',
    email: 'taken@example.org',
    external_id: 'T',
    authname: { saml: ['t'] },
  });
  ids = { admin: (await webmaster.get('/users/me')).body.uuid, member: uuid, other: other.uuid };
  jest.spyOn(app.app.get(Log), 'logFault').mockImplementation(faults);
});

const database = (): Database => databaseOf(app);
const login = (username: string) =>
  app.guest.post('/sessions/login', { username, password: 'a wrong password' });
/** Sends more logins at once than the hash queue accepts, and returns a refused response. */
async function fillHashQueue(): Promise<Answer> {
  const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => login(`flood-${i}`)));
  const refused = answers.find(({ status }) => status !== 401 && status !== 429);
  if (!refused) throw new Error('the queue accepted every login');
  return refused;
}

/** Sends a search while a table is missing, which is an error that the service does not expect. */
async function breakDatabase(): Promise<Answer> {
  await database().execute('ALTER TABLE user_words RENAME TO user_words_gone');
  try {
    return await app.key.get('/users/search?fulltext_search=hunter2');
  } finally {
    await database().execute('ALTER TABLE user_words_gone RENAME TO user_words');
  }
}

const createConflicting = (overrides: Record<string, unknown>) => app.key.post('/users', aUser(overrides));

/** For each error code, a request that produces it. */
const REQUESTS: Record<string, () => Promise<Answer>> = {
  malformed_json: () => app.key.send('POST', '/users', '{'),
  malformed_request: () => sendForResponse(app.url, 'GET /api/0.3/status HTTP/1.1\r\n\r\n'),
  malformed_uuid: () => app.key.get('/users/1'),
  invalid_parameter: () => app.key.get('/users/search?surnam=doe'),
  unauthenticated: () => app.guest.get('/users/me'),
  login_failed: () => login('nobody'),
  forbidden: () => member.post('/users', aUser()),
  field_not_permitted: () => member.put(`/users/${ids.member}`, { email: 'new@example.org' }),
  cross_site: () => webmaster.post('/users', aUser(), { origin: 'https://evil.example' }),
  insufficient_scope: async () => (await aKey(app, 'audit:read')).client.get('/users/search'),
  network_not_permitted: async () => {
    const { body } = await app.key.post('/api_keys', { name: 'x', networks: ['192.0.2.0/24'] });
    return app.guest.with({ 'x-api-key': body.key as string }).get('/users/search');
  },
  self_block: () => webmaster.put(`/users/${ids.admin}`, { status: 'Blocked' }),
  password_change_required: async () => {
    const { uuid, username } = await create(app.key);
    const { password } = (await app.key.post(`/users/${uuid}/password`, {})).body;
    return (await app.login(username as string, password as string)).get('/users/search');
  },
  reauthentication_required: async () => {
    const admin = await app.login();
    await database().execute('UPDATE sessions SET created = ?', [inSeconds(-3600)]);
    return admin.post('/api_keys', { name: 'x' });
  },
  not_found: () => app.key.get(`/users/${UNKNOWN}`),
  method_not_allowed: () => app.key.send('DELETE', '/status'),
  username_taken: () => createConflicting({ username: 'TAKEN' }),
  email_taken: () => createConflicting({ email: 'Taken@Example.org' }),
  external_id_taken: () => createConflicting({ external_id: 'T' }),
  authname_taken: () => createConflicting({ authname: { saml: ['t'] } }),
  last_webmaster: () => app.key.put(`/users/${ids.admin}`, { status: 'Blocked' }),
  wrong_state: async () => {
    const { id } = await runImport(app.key, 'ExternalId\n');
    return app.key.post(`/imports/${id as string}/cancel`);
  },
  file_lost: async () => {
    const { id } = await runImport(app.key, 'ExternalId,Email\na,bad\nb,b@example.org\n');
    await database().execute('UPDATE import_rows SET cells = NULL WHERE run_id = ?', [id as string]);
    return app.key.get(`/imports/${id as string}/failed.csv`);
  },
  precondition_failed: () =>
    app.key.put(`/users/${ids.other}`, { surname: 'x' }, { 'if-match': '"0.0.webmaster"' }),
  too_large: () => app.key.send('POST', '/users', `{"about_me":"${'x'.repeat(1024 * 1024)}"}`),
  unsupported_media_type: () => app.key.send('POST', '/users', '{}', { 'content-type': 'text/plain' }),
  expectation_failed: () => app.guest.fetch('GET', '/api/0.3/status', undefined, { expect: 'a pony' }),
  validation_failed: () => app.key.post('/users', {}),
  request_timeout: () => app.key.send('POST', '/users', '{"username":', { 'content-length': '100' }),
  headers_too_large: () =>
    sendForResponse(app.url, `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(17 * 1024)}\r\n\r\n`),
  search_too_broad: () => withEndlessCount(database(), () => app.key.get('/users/search?managed_by=default')),
  rate_limited: async () => {
    let answer = await member.get('/users/me');
    for (let sent = 1; sent < RATE && answer.status === 200; sent++) answer = await member.get('/users/me');
    return answer.status === 200 ? member.get('/users/me') : answer;
  },
  fuse_blown: async () => {
    const { client } = await aKey(app);
    const uuids = [(await create(app.key)).uuid, (await create(app.key)).uuid];
    const block = (uuid: string) => client.put(`/users/${uuid}`, { status: 'Blocked' });
    await block(uuids[0]);
    return block(uuids[1]);
  },
  login_throttled: async () => {
    for (let i = 0; i < 5; i++) await login('guessed');
    return login('guessed');
  },
  internal: breakDatabase,
  unavailable: fillHashQueue,
  database_replaced: () => {
    const replaced = new DatabaseError('replaced', new Error('moved'));
    jest.spyOn(database(), 'begin').mockRejectedValueOnce(replaced);
    return app.key.post('/users', aUser());
  },
  outcome_unknown: () => loseCommit(app),
};

/** Members in addition to the seven common members, and the headers that each code must have. */
const EXTRAS: Record<string, { members?: string[]; headers?: Record<string, RegExp> }> = {
  unauthenticated: { headers: { 'www-authenticate': /^\w+ .*realm=/ } },
  method_not_allowed: { headers: { allow: /^GET, HEAD$/ } },
  username_taken: { members: ['conflicts'] },
  email_taken: { members: ['conflicts'] },
  external_id_taken: { members: ['conflicts'] },
  authname_taken: { members: ['conflicts'] },
  validation_failed: { members: ['errors'] },
  request_timeout: { headers: { connection: /^close$/ } },
  rate_limited: {
    headers: {
      'retry-after': /^([1-9]|[1-5]\d|60)$/,
      ratelimit: /;r=0;t=\d+$/,
      'ratelimit-policy': /;q=300;w=60$/,
    },
  },
  fuse_blown: { headers: { 'retry-after': /^3[56]\d\d$/ } },
  login_throttled: { headers: { 'retry-after': /^([1-9]|[1-9]\d|[1-8]\d\d|900)$/ } },
  unavailable: { headers: { 'retry-after': /^[1-9]\d*$/ } },
  database_replaced: { headers: { 'retry-after': /^[1-9]\d*$/ } },
  outcome_unknown: { headers: { 'retry-after': /^[1-9]\d*$/ } },
};
const MEMBERS = ['type', 'title', 'status', 'detail', 'instance', 'code', 'request_id'];

test('the error tests cover every code of the error catalogue', () => {
  expect([...Object.keys(REQUESTS), ...Object.keys(SCIM_ONLY)].sort()).toEqual(Object.keys(CATALOGUE).sort());
});

test.each(REST_ERRORS)(
  'the error %s has all required properties and headers',
  async (code, { status, title }) => {
    faults.mockClear();
    const answer = await REQUESTS[code]!();
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code });
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json(; charset=utf-8)?$/);
    expect(answer.body).toMatchObject({ type: `/problems/${code}`, title, status });
    expect(answer.body.detail).toMatch(/^\S.+\.$/s);
    // With headers that are too large, the parser fails before it reports the path.
    expect(answer.body.instance).toMatch(code === 'headers_too_large' ? /^$/ : /^\/api\/0\.3\/[^?]+$/);
    expect(answer.body.request_id).toBe(answer.headers['x-request-id']);
    const { members = [], headers = {} } = EXTRAS[code] ?? {};
    expect(Object.keys(answer.body).sort()).toEqual([...MEMBERS, ...members].sort());
    for (const [name, form] of Object.entries(headers)) expect(answer.headers[name]).toMatch(form);
    // Only 5xx errors are logged, with the request id that the client received.
    const logged = faults.mock.calls.map(([id, what]) => [id, what]);
    if (status < 500) expect(logged).toEqual([]);
    else expect(logged).toContainEqual([answer.body.request_id, code]);
  },
);

test('the response to an internal error hides the cause', async () => {
  const { text } = await breakDatabase();
  expect(text).not.toMatch(
    /user_words|SELECT|SQL|no such table|doesn't exist|ER_|\bat \/|\.ts\b|\.js\b|hunter2/i,
  );
  expect((await app.key.get('/users/search?fulltext_search=taken')).body.Count).toBe(1);
});

test.each([
  ['application/json', 'application/json'],
  ['Application/JSON', 'application/json'],
  ['application/problem+json', 'application/problem+json'],
  ['application/json; charset=utf-8', 'application/json'],
  ['application/json;q=0.9', 'application/json'],
  ['application/json, application/problem+json', 'application/problem+json'],
  ['application/json, text/plain, */*', 'application/problem+json'],
  ['*/*', 'application/problem+json'],
  ['text/html;q=0.5, */*', 'application/problem+json'],
])('an error for Accept: %s has the media type %s', async (accept, type) => {
  const answer = await app.guest.get('/users/me', { accept });
  expect(answer.headers['content-type']?.split(';')[0]).toBe(type);
  expect(answer.body).toMatchObject({
    code: 'unauthenticated',
    status: 401,
    request_id: answer.headers['x-request-id'],
  });
});

test('a long error detail is cut to 2,000 characters', async () => {
  const unknown = Array.from({ length: 100 }, (_, number) => `${'p'.repeat(90)}${number}=1`);
  const { status, body } = await app.key.get(`/users/search?${unknown.join('&')}`);
  expect({ status, length: body.detail.length }).toEqual({ status: 400, length: 2000 });
});
