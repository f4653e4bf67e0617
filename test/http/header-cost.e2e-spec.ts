import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import { type Person, aPerson } from '../support/app/people.js';

/** What headers and queries cost, whatever they hold: CPU of the whole process beside that of plain ones of the same size. */
let app: TestApp;
let member: Person;
jest.setTimeout(60_000);
beforeAll(async () => {
  app = await TestApp.start({ TRUST_PROXY: 'loopback', LOGIN_FAILURES_PER_IP: '1000000' });
  member = await aPerson(app);
});
afterAll(() => app.end());

const SIZE = 14_000;
const filled = (piece: string): string => piece.repeat(Math.floor(SIZE / piece.length));
const REPEATS = 20;
/** Milliseconds of CPU for one request, the least of three rounds. */
async function cost(path: string, headers: Record<string, string>): Promise<number> {
  const rounds: number[] = [];
  for (let round = 0; round < 3; round++) {
    const before = process.cpuUsage();
    for (let sent = 0; sent < REPEATS; sent++) await member.client.raw('GET', path, undefined, headers);
    const { user, system } = process.cpuUsage(before);
    rounds.push((user + system) / 1000 / REPEATS);
  }
  return Math.min(...rounds);
}

const ME = '/api/0.3/users/me';
test.each<[string, string, () => Record<string, string>]>([
  [
    'thousands of cookies',
    ME,
    () => ({ cookie: `${filled('a=b;')}${member.client.headers['cookie'] ?? ''}` }),
  ],
  [
    'an encoded cookie',
    ME,
    () => ({ cookie: `a=${filled('%41')};${member.client.headers['cookie'] ?? ''}` }),
  ],
  ['a list of ETags', ME, () => ({ 'if-none-match': filled('"1.2.a",') })],
  ['a list of media types', ME, () => ({ accept: `${filled('application/json ;')}x` })],
  ['blanks in a media type', ME, () => ({ accept: `application/json${filled(' ')}x` })],
  ['a list of addresses', ME, () => ({ 'x-forwarded-for': `${filled('127.0.0.1,')}127.0.0.1` })],
  ['a long key', ME, () => ({ 'x-api-key': filled('rollcall_') })],
  ['a query of thousands of parameters', `${ME}?${filled('a=1&')}`, () => ({})],
  ['a parameter repeated', `/api/0.3/users/search?${filled('status=Active&')}`, () => ({})],
  ['marks in a parameter', `/api/0.3/users/search?username=${filled('%CC%81%CC%96')}`, () => ({})],
  ['words', `/api/0.3/users/search?fulltext_search=${filled('ab*+')}`, () => ({})],
  ['a long path', `/api/0.3/${filled('users/')}`, () => ({})],
  ['a long identifier', `/api/0.3/users/${filled('%41')}`, () => ({})],
])('%s', async (_, path, headers) => {
  const plain = await cost(ME, { 'x-plain': filled('x') });
  expect(await cost(path, headers())).toBeLessThan(plain * 3 + 5);
});
