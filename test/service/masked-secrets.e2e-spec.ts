import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { LogOutput } from '../../src/platform/telemetry/log.js';
import { setUpApp } from '../support/app/app.js';
import type { Answer, Client } from '../support/app/client.js';
import { aUser, create } from '../support/data/factories.js';
import { databaseOf } from '../support/app/people.js';
import { sendBytes } from '../support/app/raw.js';

/** Credentials are masked in logs, audit events, errors and metrics, wherever a client has sent them. */
const app = setUpApp({ LOG_LEVEL: 'trace', LOGIN_FAILURES_PER_IP: '1000' });
let logged = '';
let audited = '';
let metrics = '';
/** Responses by the part of the request that contained the credential. */
const answers: [string, string][] = [];
let key: string;
let token: string;

const encode = (text: string): string =>
  Array.from(text, (char) => `%${char.charCodeAt(0).toString(16)}`).join('');
const decode = (text: string): string =>
  text.replace(/%([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

/** Builds requests with a secret in every part of a request that accepts text. */
function buildRequests(secret: string, client: Client): Record<string, () => Promise<Answer | string>> {
  const formatHead = (target: string, headers = '') =>
    `${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n`;
  const id = '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10';
  const uploadCsv = (text: string, query = '') =>
    client.fetch('POST', `/api/0.3/imports${query}`, text, { 'content-type': 'text/csv' });
  return {
    path: () => client.fetch('GET', `/${secret}`),
    'version of the path': () => client.fetch('GET', `/api/${secret}/users/${id}`),
    'id in the path': () => client.fetch('GET', `/api/0.3/users/${secret}`),
    'percent-encoded id': () => client.fetch('GET', `/api/0.3/users/${encode(secret)}`),
    'end of the path': () => client.fetch('GET', `/api/0.3/users/me/x${secret}-7/more`),
    'path without credentials': () => app.guest.fetch('DELETE', `/api/0.3/sessions/${secret}`),
    'path with a wrong method': () => client.fetch('PATCH', `/api/0.3/users/${secret}`),
    'path with invalid percent-encoding': () => client.fetch('GET', `/api/0.3/users/${secret}%zz`),
    'name of a parameter': () => client.fetch('GET', `/api/0.3/users/search?${secret}=1`),
    'value of a parameter': () =>
      client.fetch('GET', `/api/0.3/users/search?api_key=${secret}&limit=${secret}`),
    'value of a sort': () => client.fetch('GET', `/api/0.3/users/search?sort=${secret}`),
    'whole URL': () => sendBytes(app.url, formatHead(`GET http://x/${secret}?a=${secret}`)),
    'invalid target': () => sendBytes(app.url, formatHead(`GET ${secret}`)),
    'CONNECT target': () => sendBytes(app.url, formatHead(`CONNECT ${secret}:443`)),
    'Expect header': () => sendBytes(app.url, formatHead(`GET /${secret}`, `Expect: ${secret}\r\n`)),
    Host: () => sendBytes(app.url, `GET /${secret} HTTP/1.1\r\nHost: ${secret}\r\nHost: ${secret}\r\n\r\n`),
    'request id': () =>
      client.fetch('GET', '/api/0.3/users/x', undefined, { 'x-request-id': secret.slice(0, 64) }),
    'other headers': () =>
      client.fetch('POST', '/api/0.3/users', '{}', {
        ...{ 'idempotency-key': secret, 'if-match': secret, origin: `https://${secret}`, referer: secret },
        ...{ 'user-agent': secret, accept: secret, 'content-encoding': secret },
      }),
    'media type': () => client.fetch('POST', '/api/0.3/users', '{}', { 'content-type': secret }),
    'name of a field': () => client.post('/users', { [secret]: secret }),
    'fields of a user': () =>
      client.post('/users', { username: [secret], email: secret, roles: [secret], status: secret }),
    'member of a field': () => client.post('/users', aUser({ social_media: { [secret]: secret } })),
    JSON: () => client.fetch('POST', '/api/0.3/users', secret),
    'name of a login': () => app.guest.post('/sessions/login', { username: secret, password: 'wrong' }),
    'within the name of a login': () =>
      app.guest.post('/sessions/login', { username: `my key is ${secret}`, password: 'wrong' }),
    'name of a login, in capitals': () =>
      app.guest.post('/sessions/login', {
        username: secret.replace(/^rollcall/, 'ROLLCALL'),
        password: 'wrong',
      }),
    'password of a login': () => app.guest.post('/sessions/login', { username: 'x', password: secret }),
    'API key': () => app.guest.fetch('GET', `/api/0.3/users/${id}`, undefined, { 'x-api-key': `${secret}x` }),
    'options of an import': () => uploadCsv('ExternalId\r\n1\r\n', `?dataset=${secret}&mode=${secret}`),
    'column of a file': () => uploadCsv(`ExternalId,${secret}\r\n1,2\r\n`),
  };
}

beforeAll(async () => {
  jest.spyOn(LogOutput.prototype, 'write').mockImplementation((lines) => {
    logged += lines;
    return 0;
  });
  key = String((await app.key.post('/api_keys', { name: 'leaked' })).body.key);
  token = (await app.login()).headers['cookie']?.split('=')[1] ?? '';
  for (const secret of [key, token]) {
    for (const [place, send] of Object.entries(buildRequests(secret, app.key))) {
      const answer = await send();
      const [status, text] =
        typeof answer === 'string'
          ? [answer, answer]
          : [answer.status, answer.text + JSON.stringify(answer.headers)];
      expect([place, String(status)]).toEqual([place, expect.stringMatching(/^(HTTP\/1\.1 )?[24]/)]);
      answers.push([place, text]);
    }
  }
  // Successful requests that write audit events.
  const { uuid } = await create(app.key, { firstname: key, about_me: `it is ${key}.` });
  await app.key.put(`/users/${uuid as string}`, { surname: key, firstname: null, authname: { saml: [key] } });
  await app.key.post('/api_keys', { name: `old ${key}` });
  audited =
    JSON.stringify(await databaseOf(app).query('SELECT * FROM audit_events')) +
    JSON.stringify(await databaseOf(app).query('SELECT * FROM login_failures'));
  ({ text: metrics } = await app.guest.fetch('GET', '/metrics'));
});
afterAll(() => void jest.restoreAllMocks());

const findSecrets = (text: string): string[] => {
  const secrets = [key.slice(22, 65), token].map((secret) => secret.slice(0, 20).toLowerCase());
  const plain = decode(decode(text)).toLowerCase();
  return secrets.filter((secret) => plain.includes(secret));
};

test('the helper findSecrets finds plain and percent-encoded secrets', () => {
  expect(findSecrets(`${key} ${encode(token)}`)).toHaveLength(2);
  expect(logged.split('\n').length).toBeGreaterThan(60);
  expect(audited).toContain('session.login_failed');
});

test('every log line is JSON without a secret', () => {
  expect(logged.split('\n').filter((line) => findSecrets(line).length > 0)).toEqual([]);
  expect(logged).toContain(`/api/0.3/users/rollcall_${key.slice(9, 21)}_***`);
  for (const line of logged.trim().split('\n')) expect(() => JSON.parse(line) as unknown).not.toThrow();
});

test('audit events and login failures contain no secret', () => {
  expect(findSecrets(audited)).toEqual([]);
  expect(audited).toContain(`rollcall_${key.slice(9, 21)}_***`);
});

test('error responses and metrics contain no secret of a request', () => {
  expect(answers.filter(([, text]) => findSecrets(text).length > 0)).toEqual([]);
  expect(findSecrets(metrics)).toEqual([]);
});

test('an X-Request-Id with a secret is replaced by a generated id', async () => {
  for (const id of [token, `a.${token}`, key.slice(0, 64)]) {
    const answer = await app.key.get('/users/search', { 'x-request-id': id });
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  }
});
