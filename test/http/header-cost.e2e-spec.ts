import { beforeAll, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import { type Person, aPerson } from '../support/app/people.js';

/** Compares the CPU time of hostile headers and queries with the CPU time of a plain header of the same size. */
const app = setUpApp({ TRUST_PROXY: 'loopback', LOGIN_FAILURES_PER_IP: '1000000' });
let member: Person;
beforeAll(async () => void (member = await aPerson(app)));

const SIZE = 14_000;
const fill = (piece: string): string => piece.repeat(Math.floor(SIZE / piece.length));
const REPEATS = 20;
/** Returns the CPU time of one request in milliseconds, the minimum of three rounds. */
async function measureCpu(path: string, headers: Record<string, string>): Promise<number> {
  const rounds: number[] = [];
  for (let round = 0; round < 3; round++) {
    const before = process.cpuUsage();
    for (let sent = 0; sent < REPEATS; sent++) await member.client.fetch('GET', path, undefined, headers);
    const { user, system } = process.cpuUsage(before);
    rounds.push((user + system) / 1000 / REPEATS);
  }
  return Math.min(...rounds);
}

const ME = '/api/0.3/users/me';
test.each<[string, string, () => Record<string, string>]>([
  ['thousands of cookies', ME, () => ({ cookie: `${fill('a=b;')}${member.client.headers['cookie'] ?? ''}` })],
  [
    'cookies with invalid encoding',
    ME,
    () => ({ cookie: `${fill('a=%41%;')}${member.client.headers['cookie'] ?? ''}` }),
  ],
  ['a list of ETags', ME, () => ({ 'if-none-match': fill('"1.2.a",') })],
  ['a list of media types', ME, () => ({ accept: `${fill('application/json ;')}x` })],
  ['blanks in a media type', ME, () => ({ accept: `application/json${fill(' ')}x` })],
  ['a list of addresses', ME, () => ({ 'x-forwarded-for': `${fill('127.0.0.1,')}127.0.0.1` })],
  ['a long API key', ME, () => ({ 'x-api-key': fill('rollcall_') })],
  ['a query of thousands of parameters', `${ME}?${fill('a=1&')}`, () => ({})],
  ['a repeated parameter', `/api/0.3/users/search?${fill('status=Active&')}`, () => ({})],
  ['combining marks in a parameter', `/api/0.3/users/search?username=${fill('%CC%81%CC%96')}`, () => ({})],
  ['many search words', `/api/0.3/users/search?fulltext_search=${fill('ab*+')}`, () => ({})],
  ['a long path', `/api/0.3/${fill('users/')}`, () => ({})],
  ['a long user id', `/api/0.3/users/${fill('%41')}`, () => ({})],
])('a request with %s does not use excessive CPU time', async (_, path, headers) => {
  const plain = await measureCpu(ME, { 'x-plain': fill('x') });
  expect(await measureCpu(path, headers())).toBeLessThan(plain * 3 + 5);
});
