import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import { aUser } from '../support/data/factories.js';
import { type Person, aPerson } from '../support/app/people.js';
import { RawConnection, lastAnswer } from '../support/app/raw.js';

let app: TestApp;
let member: Person;
beforeAll(async () => {
  app = await TestApp.start();
  member = await aPerson(app);
});
afterAll(() => app.end());

const JSON_TYPE = { 'content-type': 'application/json' };
const CSV_TYPE = { 'content-type': 'text/csv' };
const credentials = (who: 'key' | 'member' | 'nobody'): Record<string, string> =>
  who === 'key' ? app.key.headers : who === 'member' ? member.client.headers : {};

describe('Expect: 100-continue', () => {
  const CONTINUE = /^HTTP\/1\.1 100 Continue\r\n\r\n/;
  const expecting = { expect: '100-continue' };

  test.each([
    ['no credentials', 'POST /api/0.3/users', 'nobody', { ...JSON_TYPE, 'content-length': '2' }, 401],
    [
      'another type',
      'POST /api/0.3/users',
      'key',
      { 'content-type': 'text/plain', 'content-length': '2' },
      415,
    ],
    ['too long', 'POST /api/0.3/users', 'key', { ...JSON_TYPE, 'content-length': '9000000' }, 413],
    [
      'a login too long',
      'POST /api/0.3/sessions/login',
      'nobody',
      { ...JSON_TYPE, 'content-length': '4097' },
      413,
    ],
    ['a file of a member', 'POST /api/0.3/imports', 'member', { ...CSV_TYPE, 'content-length': '11' }, 403],
    [
      'a file with a bad option',
      'POST /api/0.3/imports?mode=x',
      'key',
      { ...CSV_TYPE, 'content-length': '11' },
      400,
    ],
    ['a route without a body', 'GET /api/0.3/status', 'nobody', { 'content-length': '2' }, 200],
  ] as const)(
    'is not answered with 100 where the body is refused: %s',
    async (_, line, who, headers, status) => {
      const all = { ...credentials(who), ...headers, ...expecting };
      const connection = await RawConnection.request(app.url, line, all);
      const text = await connection.ended;
      connection.socket.destroy();
      expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    },
  );

  test.each([
    ['JSON', 'POST /api/0.3/users', JSON_TYPE, JSON.stringify(aUser()), 201],
    ['a file', 'POST /api/0.3/imports?dry_run=true', CSV_TYPE, 'ExternalId\n', 202],
    [
      'a form',
      'POST /api/0.3/imports?dry_run=true',
      { 'content-type': 'multipart/form-data; boundary=b' },
      '--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nExternalId\n\r\n--b--\r\n',
      202,
    ],
  ])('is answered with 100 where the body is wanted: %s', async (_, line, type, body, status) => {
    const headers = { ...app.key.headers, ...type, ...expecting, 'content-length': String(body.length) };
    const connection = await RawConnection.request(app.url, line, headers);
    await connection.until(CONTINUE);
    connection.socket.write(body);
    const text = await connection.until(/\}$/);
    connection.socket.destroy();
    expect(lastAnswer(text).status).toBe(status);
    expect(text.match(/HTTP\/1\.1/g)).toHaveLength(2);
  });
});
