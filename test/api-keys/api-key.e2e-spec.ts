import { describe, expect, jest, test } from '@jest/globals';
import { generateApiKey } from '../../src/api-keys/api-keys.service.js';
import { API_KEY, setUpApp } from '../support/app/app.js';
import type { Answer } from '../support/app/client.js';
import { aUser } from '../support/data/factories.js';
import { aPerson, databaseOf, inSeconds, problemOf, sha256 } from '../support/app/people.js';

const app = setUpApp();

/** Stores the hash of an API key like the service does. */
async function store(key: string, expires: string | null = null): Promise<string> {
  await databaseOf(app).execute(
    "INSERT INTO api_keys (id, key_hash, name, created, expires, revoked, maker_kind) VALUES (?, ?, ?, ?, ?, NULL, 'system')",
    [crypto.randomUUID(), sha256(key), 'a key', inSeconds(-60), expires],
  );
  return key;
}

const search = (key: string): Promise<Answer> => app.guest.get('/users/search?limit=1', { 'x-api-key': key });

function expectUnauthenticated(answer: Answer): void {
  expect(problemOf(answer)).toEqual([401, 'unauthenticated']);
  expect(answer.headers['www-authenticate']).toMatch(/^ApiKey /);
}

test('the error for a mistyped API key mentions a typing error', async () => {
  const key = await store(generateApiKey());
  const swapped = key.replace(/_(.)(.)/, '_$2$1');
  const mistyped = swapped === key ? key.replace(/.$/, (last) => (last === '0' ? '1' : '0')) : swapped;
  const [wrong, unknown] = [await search(mistyped), await search(generateApiKey())];
  expectUnauthenticated(wrong);
  expect(wrong.body.detail).toMatch(/typing error/);
  expectUnauthenticated(unknown);
  expect(unknown.body.detail).not.toMatch(/typing error/);
});

test('a stored API key with a wrong checksum is accepted', async () => {
  const key = await store(`rollcall_0123456789ab_${'x'.repeat(43)}_00000000`);
  expect((await search(key)).status).toBe(200);
});

describe('a request with API key and session', () => {
  test('uses only the API key', async () => {
    const { client } = await aPerson(app, { roles: ['External user'] });
    const both = client.with({ 'x-api-key': API_KEY });
    expect((await both.post('/users', aUser())).status).toBe(201);
    expect(problemOf(await both.get('/users/me'))).toEqual([404, 'not_found']);
  });

  test.each([
    ['unknown', 'a-key-that-nobody-has-ever-made-0123456789'],
    ['empty', ''],
    ['truncated', API_KEY.slice(0, -1)],
  ])('returns 401 if the key is %s', async (_, key) => {
    const webmaster = await app.login();
    expect((await webmaster.get('/users/me')).status).toBe(200);
    expectUnauthenticated(await webmaster.with({ 'x-api-key': key }).get('/users/me'));
  });
});

describe('an API key', () => {
  test('is refused after its expiry', async () => {
    expect((await search(await store(generateApiKey(), inSeconds(60)))).status).toBe(200);
    const expired = await store(generateApiKey(), inSeconds(-1));
    expectUnauthenticated(await search(expired));
    const lastUsed = 'SELECT last_used FROM api_keys WHERE key_hash = ?';
    expect(await databaseOf(app).queryOne(lastUsed, [sha256(expired)])).toEqual({ last_used: null });
  });

  test.each([
    ['in upper case', API_KEY.toUpperCase()],
    ['sent after the word Bearer', `Bearer ${API_KEY}`],
    ['sent twice', `${API_KEY}, ${API_KEY}`],
    ['sent as its hash', sha256(API_KEY)],
    ['sent as a wildcard', '%'],
  ])('is refused if it is %s', async (_, key) => {
    expectUnauthenticated(await search(key));
  });

  test('is accepted by the REST API only in X-API-Key', async () => {
    expectUnauthenticated(await app.guest.get('/users/search', { authorization: `Bearer ${API_KEY}` }));
    expectUnauthenticated(await app.guest.get('/users/search', { cookie: `X-API-Key=${API_KEY}` }));
    expectUnauthenticated(await app.guest.get(`/users/search?api_key=${API_KEY}`));
  });
});

test('parallel requests with one API key share the statements that find the key and the users', async () => {
  const { uuid } = (await aPerson(app)).user;
  const send = () => Promise.all(Array.from({ length: 60 }, () => app.key.get(`/users/${uuid}`)));
  await send(); // opens the connections, so that the next requests arrive together
  const query = jest.spyOn(databaseOf(app), 'query');
  const answers = await send();
  const statements = query.mock.calls.filter(([sql]) => / WHERE (key_hash|uuid) IN /.test(sql));
  query.mockRestore();
  expect(answers.filter(({ status, body }) => status === 200 && body.uuid === uuid)).toHaveLength(60);
  expect(statements.length).toBeGreaterThanOrEqual(2);
  expect(statements.length).toBeLessThan(60); // instead of 120
});

test('an API key is rejected as soon as its revocation is acknowledged, even in parallel requests', async () => {
  const { body } = await app.key.post('/api_keys', { name: 'short-lived' });
  let isRevoked = false;
  const sendUntilRejected = async (): Promise<number> => {
    const isLate = isRevoked;
    const { status } = await search(body.key);
    return isLate || status !== 200 ? status : sendUntilRejected();
  };
  const clients = Array.from({ length: 20 }, sendUntilRejected);
  expect((await app.key.delete(`/api_keys/${body.id}`)).status).toBe(204);
  isRevoked = true;
  clients.push(...Array.from({ length: 20 }, sendUntilRejected));
  expect(new Set(await Promise.all(clients))).toEqual(new Set([401]));
});
