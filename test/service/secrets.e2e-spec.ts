import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { LogOutput } from '../../src/platform/telemetry/log.js';
import { ADMIN_PASSWORD, API_KEY, setUpApp } from '../support/app/app.js';
import type { Answer, Client, Json } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { csv, awaitRun, upload } from '../support/app/imports.js';
import { databaseOf } from '../support/app/people.js';

/**
 * Sends passwords, keys, cookies and tokens in every possible way. No output and no table may contain a secret. The log
 * has a line for every request, without values of queries and bodies.
 */
const SECRET = 'planted-secret';
const PASSWORD = `${SECRET}-password`;
const TOKEN = `${SECRET}-token-of-metrics`;
const WRONG_KEY = `${SECRET}-wrong-key-0123456789-0123456789`;
/** A personal value, which tables may contain but the log may not. */
const PRIVATE = 'hunter2';
const app = setUpApp({ METRICS_TOKEN: TOKEN, LOG_LEVEL: 'trace' });
let user: { uuid: string; username: string };
/** Real secrets, which do not contain `SECRET`. */
const others = [API_KEY, ADMIN_PASSWORD];
const answers = new Map<string, Answer>();
let output = '';
let lines: Json[];

const record = async (name: string, request: Promise<Answer>): Promise<Answer> => {
  const answer = await request;
  answers.set(`${name} ${answer.status}`, answer);
  return answer;
};

async function logInAndChangePassword(): Promise<Client> {
  const path = `/users/${user.uuid}`;
  const login = (body: object) => app.guest.post('/sessions/login', body);
  const { username } = user;
  const { cookie } = await login({ username, password: PASSWORD });
  others.push(cookie.split('=')[1] ?? '');
  const self = app.guest.with({ cookie });
  const next = `${PASSWORD}-2`;
  await record('own profile', self.get('/users/me'));
  await record('wrong current', self.put(path, { password: next, current_password: SECRET }));
  await record('own password', self.put(path, { password: next, current_password: PASSWORD }));
  await record('bad login', login({ username: PRIVATE, password: SECRET }));
  await record('misspelt login', login({ username, pasword: SECRET }));
  await record('bad key', app.guest.get('/users/me', { 'x-api-key': WRONG_KEY }));
  await record('bad cookie', app.guest.get('/users/me', { cookie: `rollcall_session=${WRONG_KEY}` }));
  const bearer = { authorization: `Bearer ${TOKEN}x` };
  await record('bad token', app.guest.fetch('GET', '/metrics', undefined, bearer));
  return self;
}

async function sendBodies(): Promise<void> {
  const path = `/users/${user.uuid}`;
  const body = { username: 'again', email: `${PRIVATE}@example.org`, password: PASSWORD, phone: PRIVATE };
  const other = { authorization: `Bearer ${SECRET}`, referer: `http://x/?${SECRET}` };
  await record('query', app.key.get(`/users/search?username=${PRIVATE}&email=${PRIVATE}%40example.org`));
  await record('bad query', app.key.get(`/users/search?${PRIVATE}=1&limit=${PRIVATE}`));
  await record('other headers', app.key.get('/users/search', { ...other, 'x-request-id': `${SECRET} ?` }));
  await record('malformed', app.key.send('PUT', path, `{"password":"${PASSWORD}`));
  await record('text', app.key.send('PUT', path, `password=${PASSWORD}`, { 'content-type': 'text/plain' }));
  await record('invalid', app.key.post('/users', { ...body, email: PRIVATE, [PRIVATE]: PRIVATE }));
  await record('too long', app.key.put(path, { password: `${PASSWORD}${'x'.repeat(200)}` }));
  await record('too short', app.key.put(path, { password: PASSWORD.slice(0, 7), passwort: PASSWORD }));
  await record('a list', app.key.put(path, { password: [PASSWORD], username: user.username }));
  const key = { 'idempotency-key': 'once' };
  await record('idempotent', app.key.post('/users', body, key));
  await record('repeated', app.key.post('/users', body, key));
  await record('changed', app.key.post('/users', { ...body, phone: '1' }, key));
  await databaseOf(app).execute('ALTER TABLE user_words RENAME TO user_words_gone');
  const another = { ...body, username: `${PRIVATE}-name`, email: 'b@example.org' };
  await record('fault in a write', app.key.post('/users', another));
  await record('fault in a read', app.key.get(`/users/search?fulltext_search=${PRIVATE}`));
  await record('idempotent fault', app.key.post('/users', another, { 'idempotency-key': PRIVATE }));
  await databaseOf(app).execute('ALTER TABLE user_words_gone RENAME TO user_words');
}

async function useKeys(): Promise<void> {
  const { body } = await app.key.post('/api_keys', { name: 'planted' });
  others.push(body.key);
  const client = app.guest.with({ 'x-api-key': body.key });
  await record('own key', client.get('/users/search'));
  await record('bad name', client.post('/api_keys', { name: '', key: WRONG_KEY }));
  await record('revocation', client.delete(`/api_keys/${body.id as string}`));
  await record('revoked key', client.get('/users/search'));
}

async function importPasswords(): Promise<void> {
  const file = csv('ExternalId,Username,Email,Password', `s,s,s@example.org,${PASSWORD}`);
  for (const query of ['', 'ignore_unknown_columns=true']) {
    const { id } = (await record(`import ${query}`, upload(app.key, file, query))).body;
    await awaitRun(app.key, id);
    for (const part of ['', '/rows', '/failed.csv', '/events'])
      await record(`import ${query}${part}`, app.key.get(`/imports/${id as string}${part}`));
  }
}

beforeAll(async () => {
  jest.spyOn(LogOutput.prototype, 'write').mockImplementation((written) => {
    output += written;
    return 0;
  });
  const { uuid, username } = await create(app.key, { password: PASSWORD, firstname: PRIVATE });
  user = { uuid, username };
  const self = await logInAndChangePassword();
  await sendBodies();
  await useKeys();
  await importPasswords();
  const elsewhere = { origin: 'https://elsewhere.example' };
  await record('other site', self.send('POST', '/sessions/logout', undefined, elsewhere));
  await record('logout', self.send('POST', '/sessions/logout'));
  await app.guest.get('/status'); // the log line of the previous request is written by now
  lines = output
    .trimEnd()
    .split('\n')
    .map((line): Json => JSON.parse(line));
});

/** Finds the secrets in a text. */
const findSecrets = (text: string): string[] => [SECRET, ...others].filter((secret) => text.includes(secret));
const idOf = ({ headers }: Answer) => headers['x-request-id'];

test('the secret-leak tests cover four secrets and every expected status', () => {
  expect(others.map((secret) => secret.length > 10)).toEqual([true, true, true, true]);
  const statuses = new Set([...answers.values()].map(({ status }) => status));
  expect([...statuses].sort()).toEqual([200, 201, 202, 204, 400, 401, 403, 415, 422, 500]);
});

test('no response contains a secret in its body or headers', () => {
  for (const { text, headers } of answers.values())
    expect(findSecrets(text + JSON.stringify(headers))).toEqual([]);
});

describe('the log', () => {
  test('has one line for each request', () => {
    for (const answer of answers.values()) {
      const own = lines.filter(({ request_id, msg }) => request_id === idOf(answer) && msg === 'request');
      const path = expect.stringMatching(/^\/(api\/0\.3\/[\w/.-]+|metrics)$/);
      expect(own).toEqual([expect.objectContaining({ status: answer.status, path, ip: '127.0.0.1' })]);
    }
  });

  test.each([
    ['no actor without valid credentials', undefined, ['bad key 401', 'bad cookie 401', 'bad login 401']],
    ['a user', 'user', ['own profile 200', 'other site 403', 'logout 200']],
    ['an API key', 'key', ['query 200', 'bad query 400', 'malformed 400', 'invalid 422']],
    ['an API key after a fault', 'key', ['fault in a write 500']],
  ])('names the actor of each request: %s', (_, kind, names) => {
    for (const name of names) {
      const answer = answers.get(name);
      const line = lines.find(({ request_id, msg }) => request_id === idOf(answer!) && msg === 'request');
      const id: unknown = kind && expect.stringMatching(/^[0-9a-f-]{36}$/);
      expect([name, line?.actor_kind, line?.actor_id]).toEqual([name, kind, id]);
    }
  });

  test('contains the stack trace of every internal error', () => {
    const faults = lines.filter((line) => line.msg === 'fault');
    const failed = [...answers.values()].filter(({ status }) => status === 500);
    expect(faults.map((line) => line.request_id)).toEqual(failed.map(idOf));
    for (const { code, stack } of faults) {
      expect(code).toBe('internal');
      expect(stack.join('\n')).toMatch(/\.[jt]s:\d+:\d+/);
    }
  });

  test('contains no secret and no value of a query or body', () => {
    expect(lines.length).toBeGreaterThan(answers.size);
    const isPrivate = (line: string) => findSecrets(line).length > 0 || line.toLowerCase().includes(PRIVATE);
    expect(output.split('\n').filter(isPrivate)).toEqual([]);
  });
});

test.each([
  '/audit?limit=100',
  '/audit.csv',
  '/sessions',
  '/api_keys',
  '/imports',
  '/users/search',
  '/users/export.csv?all=true',
])('GET %s returns no secret', async (path) => {
  const { status, text } = await app.key.get(path);
  expect([status, findSecrets(text)]).toEqual([200, []]);
});

test('the events of a user and the metrics contain no secret', async () => {
  const events = await app.key.get(`/audit?target=${user.uuid}`);
  const metrics = await app.guest.fetch('GET', '/metrics', undefined, { authorization: `Bearer ${TOKEN}` });
  expect({ events: events.status, metrics: metrics.status }).toEqual({ events: 200, metrics: 200 });
  expect(events.text).toContain('{"field":"password"}');
  expect(findSecrets(events.text + metrics.text)).toEqual([]);
});

test.each([
  'users',
  'user_identifiers',
  'user_words',
  'sessions',
  'api_keys',
  'login_failures',
  'idempotent_requests',
  'audit_events',
  'import_runs',
  'import_rows',
])('the database table %s contains no secret', async (table) => {
  expect(findSecrets(JSON.stringify(await databaseOf(app).query(`SELECT * FROM ${table}`)))).toEqual([]);
});
