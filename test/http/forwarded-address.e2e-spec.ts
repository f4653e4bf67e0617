import { afterEach, expect, jest, test } from '@jest/globals';
import { Log } from '../../src/platform/telemetry/log.js';
import { TestApp } from '../support/app/app.js';
import { aUser } from '../support/data/factories.js';
import { problemOf } from '../support/app/people.js';
import { readAuditRows } from '../support/app/audit-rows.js';

/** Log, audit and limits use one form of each IP address, as forwarded by a trusted proxy. */
let app: TestApp;
afterEach(() => app.end());

const clientFrom = (address: string) => app.key.with({ 'x-forwarded-for': address });

test.each(['1', 'loopback'])('with TRUST_PROXY=%s, an invalid X-Forwarded-For returns 400', async (proxy) => {
  app = await TestApp.start({ TRUST_PROXY: proxy });
  const request = jest.spyOn(app.app.get(Log), 'logRequest');
  for (const junk of ['junk', 'unknown', "1'--", '1.2.3.4, nobody', '999.1.1.1', 'z'.repeat(4000)]) {
    const answer = await clientFrom(junk).post('/users', aUser());
    expect(problemOf(answer)).toEqual([400, 'invalid_parameter']);
    expect(answer.body.request_id).toBe(answer.headers['x-request-id']);
    expect(answer.body.detail).not.toContain(junk);
  }
  expect(request.mock.calls.map(([{ status }]) => status)).toEqual(Array(6).fill(400));
  expect(problemOf(await clientFrom('junk').get('/users/me'))).toEqual([400, 'invalid_parameter']);
});

test.each([
  ['::FFFF:203.0.113.7', '203.0.113.7'],
  ['junk, 203.0.113.8', '203.0.113.8'], // an address that the client claims is ignored
])('the forwarded IP address %s is recorded as %s', async (sent, address) => {
  app = await TestApp.start({ TRUST_PROXY: '1' });
  const request = jest.spyOn(app.app.get(Log), 'logRequest');
  const { body } = await clientFrom(sent).post('/users', aUser());
  expect((await readAuditRows(app, body.uuid)).map(({ ip }) => ip)).toEqual([address]);
  await app.guest.get('/users/me', { 'x-forwarded-for': sent });
  expect(request.mock.lastCall?.[0]).toMatchObject({ status: 401, ip: address });
});

/** Returns the statuses of failed logins from these addresses. Two failures are allowed for each address. */
async function guessPasswords(settings: Record<string, string>, addresses: string[]): Promise<number[]> {
  app = await TestApp.start({ LOGIN_FAILURES_PER_NAME: '2', ...settings });
  const statuses: number[] = [];
  for (const address of addresses) {
    const body = { username: 'admin', password: 'wrong password' };
    const answer = await app.guest.post('/sessions/login', body, { 'x-forwarded-for': address });
    statuses.push(answer.status);
  }
  return statuses;
}

test('failed logins from all spellings of an IP address count together', async () => {
  const spellings = ['192.0.2.1', '::ffff:192.0.2.1', '::FFFF:C000:201', '192.0.2.1:99'];
  expect(await guessPasswords({ TRUST_PROXY: '1' }, spellings)).toEqual([401, 401, 429, 429]);
});

const CLIENTS = ['192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.1'];

test.each([{}, { TRUST_PROXY: '198.51.100.7' }])(
  'with the settings %j, X-Forwarded-For of an untrusted sender is ignored',
  async (settings) => {
    expect(await guessPasswords(settings, CLIENTS)).toEqual([401, 401, 429, 429, 429]);
  },
);

test.each(['1', 'loopback', '127.0.0.0/8'])(
  'with TRUST_PROXY=%s, failed logins count per client IP address',
  async (proxy) => {
    expect(await guessPasswords({ TRUST_PROXY: proxy }, CLIENTS)).toEqual([401, 401, 401, 401, 429]);
  },
);

test('without TRUST_PROXY, the remote address of the connection is recorded', async () => {
  app = await TestApp.start();
  const { status, body } = await clientFrom('junk').post('/users', aUser());
  expect(status).toBe(201);
  expect((await readAuditRows(app, body.uuid)).map(({ ip }) => ip)).toEqual(['127.0.0.1']);
});

test.each([{}, { TRUST_PROXY: '1' }])(
  'a request on a closed connection has no IP address (settings: %j)',
  async (settings) => {
    app = await TestApp.start(settings);
    const { request } = app.app.getHttpAdapter().getInstance() as { request: object };
    const gone = Object.assign(Object.create(request) as object, { socket: null, headers: {} });
    expect(Reflect.get(gone, 'ip')).toBeUndefined();
  },
);
