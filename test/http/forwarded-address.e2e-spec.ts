import { afterEach, expect, jest, test } from '@jest/globals';
import { Log } from '../../src/telemetry/log.js';
import { TestApp } from '../support/app/app.js';
import { aUser } from '../support/data/factories.js';
import { problemOf } from '../support/app/people.js';
import { auditRows } from '../support/app/audit-rows.js';

/** Log, audit and limits see IP addresses in their one form, whatever a proxy forwards. */
let app: TestApp;
afterEach(() => app.end());

const from = (address: string) => app.key.with({ 'x-forwarded-for': address });

test.each(['1', 'loopback'])(
  'TRUST_PROXY=%s: what is no address is refused before anything else',
  async (proxy) => {
    app = await TestApp.start({ TRUST_PROXY: proxy });
    const request = jest.spyOn(app.app.get(Log), 'request');
    for (const junk of ['junk', 'unknown', "1'--", '1.2.3.4, nobody', '999.1.1.1', 'z'.repeat(4000)]) {
      const answer = await from(junk).post('/users', aUser());
      expect(problemOf(answer)).toEqual([400, 'invalid_parameter']);
      expect(answer.body.request_id).toBe(answer.headers['x-request-id']);
      expect(answer.body.detail).not.toContain(junk);
    }
    expect(request.mock.calls.map(([{ status }]) => status)).toEqual(Array(6).fill(400));
    expect(problemOf(await from('junk').get('/users/me'))).toEqual([400, 'invalid_parameter']);
  },
);

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::FFFF:203.0.113.7', '203.0.113.7'],
  ['2001:0DB8:0:0:0:0:0:1', '2001:db8::1'],
  ['203.0.113.7:4711', '203.0.113.7'],
  ['junk, 203.0.113.8', '203.0.113.8'], // what the client itself has claimed counts for nothing
])('%s is recorded as %s', async (sent, address) => {
  app = await TestApp.start({ TRUST_PROXY: '1' });
  const request = jest.spyOn(app.app.get(Log), 'request');
  const { body } = await from(sent).post('/users', aUser());
  expect((await auditRows(app, body.uuid)).map(({ ip }) => ip)).toEqual([address]);
  await app.nobody.get('/users/me', { 'x-forwarded-for': sent });
  expect(request.mock.lastCall?.[0]).toMatchObject({ status: 401, ip: address });
});

test('the spellings of one address count as one', async () => {
  app = await TestApp.start({ TRUST_PROXY: '1', LOGIN_FAILURES_PER_NAME: '2' });
  const statuses: number[] = [];
  for (const spelling of ['192.0.2.1', '::ffff:192.0.2.1', '::FFFF:C000:201', '192.0.2.1:99']) {
    const body = { username: 'admin', password: 'wrong password' };
    const answer = await app.nobody.post('/sessions/login', body, { 'x-forwarded-for': spelling });
    statuses.push(answer.status);
  }
  expect(statuses).toEqual([401, 401, 429, 429]);
});

test('without a trusted proxy the header is nothing, and the address is that of the connection', async () => {
  app = await TestApp.start();
  const { status, body } = await from('junk').post('/users', aUser());
  expect(status).toBe(201);
  expect((await auditRows(app, body.uuid)).map(({ ip }) => ip)).toEqual(['127.0.0.1']);
});
