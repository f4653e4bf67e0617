import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import type { Answer, Client } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { csv, settled, upload } from '../support/app/imports.js';
import { databaseOf } from '../support/app/people.js';

/** Passwords, keys, cookies and tokens are sent in every possible way; no output and no table may contain one. */
const PASSWORD = 'planted-password-1';
const NEXT_PASSWORD = 'planted-password-2';
const WRONG_PASSWORD = 'planted-wrong-password';
const TOKEN = 'planted-token-of-metrics';
const WRONG_KEY = 'planted-wrong-key-0123456789-0123456789';
const IDEMPOTENT = 'planted-password-3';
let app: TestApp;
let user: { uuid: string; username: string };
/** Secrets that the service has generated. */
const made: string[] = [];
const answers: Answer[] = [];
const keep = async (answer: Promise<Answer>): Promise<Answer> => {
  answers.push(await answer);
  return answer;
};

async function useEveryDoor(): Promise<void> {
  const path = `/users/${user.uuid}`;
  const login = await app.nobody.post('/sessions/login', { username: user.username, password: PASSWORD });
  made.push(login.cookie.split('=')[1] ?? '');
  const self = app.nobody.with({ cookie: login.cookie });
  await keep(self.put(path, { password: NEXT_PASSWORD, current_password: WRONG_PASSWORD }));
  await keep(self.put(path, { password: NEXT_PASSWORD, current_password: PASSWORD }));
  await keep(app.key.put(path, { password: `${PASSWORD}${'x'.repeat(200)}` }));
  await keep(app.key.put(path, { password: PASSWORD.slice(0, 7), passwort: PASSWORD }));
  await keep(app.key.put(path, { password: [PASSWORD], username: user.username }));
  await keep(app.key.send('PUT', path, `{"password":"${PASSWORD}`));
  await keep(app.key.send('PUT', path, `password=${PASSWORD}`, { 'content-type': 'text/plain' }));
  await keep(app.nobody.post('/sessions/login', { username: user.username, password: WRONG_PASSWORD }));
  await keep(app.nobody.post('/sessions/login', { username: user.username, pasword: WRONG_PASSWORD }));
  await keep(app.nobody.get('/users/me', { 'x-api-key': WRONG_KEY }));
  await keep(app.nobody.get('/users/me', { cookie: `rollcall_session=${WRONG_KEY}` }));
  await keep(app.nobody.raw('GET', '/metrics', undefined, { authorization: `Bearer ${TOKEN}x` }));
  const body = { username: 'again', email: 'again@example.org', password: IDEMPOTENT };
  for (const once of [body, body, { ...body, phone: '1' }]) {
    await keep(app.key.post('/users', once, { 'idempotency-key': 'once' }));
  }
}

async function useKeys(): Promise<void> {
  const key = await app.key.post('/api_keys', { name: 'planted' });
  made.push(key.body.key);
  const client = app.nobody.with({ 'x-api-key': key.body.key });
  await keep(client.get('/users/search'));
  await keep(client.post('/api_keys', { name: '', key: WRONG_KEY }));
  await keep(client.delete(`/api_keys/${key.body.id as string}`));
  await keep(client.get('/users/search'));
}

async function importPasswords(client: Client): Promise<void> {
  const file = csv('ExternalId,Username,Email,Password', `s,s,s@example.org,${PASSWORD}`);
  for (const query of ['', 'ignore_unknown_columns=true']) {
    const { id } = (await keep(upload(client, file, query))).body;
    await settled(client, id);
    for (const part of ['', '/rows', '/failed.csv', '/events'])
      await keep(client.get(`/imports/${id as string}${part}`));
  }
}

beforeAll(async () => {
  app = await TestApp.start({ METRICS_TOKEN: TOKEN });
  const { uuid, username } = await create(app.key, { password: PASSWORD });
  user = { uuid, username };
  await useEveryDoor();
  await useKeys();
  await importPasswords(app.key);
}, 60_000);
afterAll(() => app.end());

/** The secrets that a text contains. */
const secretsIn = (text: string): string[] =>
  ['planted-password', WRONG_PASSWORD, TOKEN, WRONG_KEY, ...made].filter((secret) => text.includes(secret));

test('secrets were sent in every way', () => {
  expect(made.map((secret) => secret.length > 40)).toEqual([true, true]);
  const statuses = answers.map(({ status }) => status);
  for (const status of [200, 201, 202, 204, 400, 401, 415, 422]) expect(statuses).toContain(status);
});

test('no answer repeats a secret, neither in its text nor in its headers', () => {
  for (const { text, headers } of answers) expect(secretsIn(text + JSON.stringify(headers))).toEqual([]);
});

test.each([
  '/audit?limit=100',
  '/audit.csv',
  '/sessions',
  '/api_keys',
  '/imports',
  '/users/search',
  '/users/export.csv?all=true',
])('%s shows none', async (path) => {
  const { status, text } = await app.key.get(path);
  expect([status, secretsIn(text)]).toEqual([200, []]);
});

test("a user's history and the metrics show none", async () => {
  const history = await app.key.get(`/users/${user.uuid}/history`);
  const metrics = await app.nobody.raw('GET', '/metrics', undefined, { authorization: `Bearer ${TOKEN}` });
  expect([history.status, metrics.status]).toEqual([200, 200]);
  expect(history.text).toContain('password changed');
  expect(secretsIn(history.text + metrics.text)).toEqual([]);
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
])('the table %s contains none', async (table) => {
  const rows = await databaseOf(app).query(`SELECT * FROM ${table}`);
  expect(secretsIn(JSON.stringify(rows))).toEqual([]);
});
