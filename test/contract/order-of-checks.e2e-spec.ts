import { beforeAll, describe, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Answer, Json } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { type Person, aPerson, problemOf } from '../support/app/people.js';

/** Faults of a change in the order in which they are reported. Faults of the same rank may be reported in any order. */
const FAULTS = [
  { fault: 'no credentials', rank: 0, problem: '401 unauthenticated' },
  { fault: 'an unsupported media type', rank: 1, problem: '415 unsupported_media_type' },
  { fault: 'an oversized body', rank: 1, problem: '413 too_large' },
  { fault: 'malformed JSON', rank: 2, problem: '400 malformed_json' },
  { fault: 'a malformed uuid', rank: 3, problem: '400 malformed_uuid' },
  { fault: 'an unknown query parameter', rank: 3, problem: '400 invalid_parameter' },
  { fault: 'a role without permission', rank: 4, problem: '403 forbidden' },
  { fault: 'an unknown user', rank: 5, problem: '404 not_found' },
  { fault: 'an invalid value', rank: 6, problem: '422 validation_failed' },
  { fault: 'a username that is in use', rank: 7, problem: '409 username_taken' },
  { fault: 'an outdated If-Match', rank: 8, problem: '412 precondition_failed' },
] as const;
type Fault = (typeof FAULTS)[number]['fault'];

const OVER_ONE_MIB = 'x'.repeat(1024 * 1024);
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

const app = setUpApp();
let target: Json;
let taken: Json;
let member: Person;
beforeAll(async () => {
  [target, taken, member] = [await create(app.key), await create(app.key), await aPerson(app)];
});

/** Sends a `PUT` of another user with exactly these faults. */
function send(faults: ReadonlySet<Fault>): Promise<Answer> {
  const client = faults.has('no credentials')
    ? app.guest
    : faults.has('a role without permission')
      ? member.client
      : app.key;
  const id = faults.has('a malformed uuid')
    ? 'not-a-uuid'
    : faults.has('an unknown user')
      ? UNKNOWN
      : target.uuid;
  const query = faults.has('an unknown query parameter') ? '?force=true' : '';
  const body = JSON.stringify({
    surname: 'Doe',
    ...(faults.has('an oversized body') && { about_me: OVER_ONE_MIB }),
    ...(faults.has('an invalid value') && { phone: 5 }),
    ...(faults.has('a username that is in use') && { username: taken.username }),
  });
  return client.send('PUT', `/users/${id}${query}`, faults.has('malformed JSON') ? body.slice(0, -1) : body, {
    ...(faults.has('an unsupported media type') && { 'content-type': 'text/plain' }),
    ...(faults.has('an outdated If-Match') && { 'if-match': '"of-another-time"' }),
  });
}

const toText = (answer: Answer) => `${answer.status} ${answer.body.code}`;

/** Returns the problems that may be reported for several faults: the problems of the lowest rank. */
function findExpected(faults: readonly Fault[]): string[] {
  const present = FAULTS.filter(({ fault }) => faults.includes(fault));
  const first = Math.min(...present.map(({ rank }) => rank));
  return present.filter(({ rank }) => rank === first).map(({ problem }) => problem);
}

test('a valid PUT /users/{user_id} returns 200', async () => {
  expect((await send(new Set())).status).toBe(200);
});

test.each(FAULTS)('PUT /users/{user_id} with $fault returns $problem', async ({ fault, problem }) => {
  expect(toText(await send(new Set([fault])))).toBe(problem);
});

const pairs = FAULTS.flatMap((first, index) =>
  FAULTS.slice(index + 1).map((then) => [first.fault, then.fault] as const),
);
test.each(pairs)('PUT /users/{user_id} reports %s before %s', async (...pair) => {
  expect(findExpected(pair)).toContain(toText(await send(new Set(pair))));
});

describe('the 403 error', () => {
  const foreign = { origin: 'https://evil.example' };

  test('cross_site is reported after syntax errors and before invalid values', async () => {
    const { client, user } = member;
    expect(problemOf(await client.send('PUT', `/users/${user.uuid}`, '{', foreign))).toEqual([
      400,
      'malformed_json',
    ]);
    expect(problemOf(await client.put('/users/x', {}, foreign))).toEqual([400, 'malformed_uuid']);
    expect(problemOf(await client.put(`/users/${user.uuid}`, { phone: 5 }, foreign))).toEqual([
      403,
      'cross_site',
    ]);
    const webmaster = await app.login();
    expect(problemOf(await webmaster.put(`/users/${UNKNOWN}`, {}, foreign))).toEqual([403, 'cross_site']);
  });

  test('field_not_permitted is reported before invalid values', async () => {
    const { client, user } = member;
    const body = { username: taken.username, phone: 5, no_field: 1 };
    const answer = await client.put(`/users/${user.uuid}`, body, { 'if-match': '"old"' });
    expect(problemOf(answer)).toEqual([403, 'field_not_permitted']);
  });

  test('self_block is reported before invalid values and taken usernames', async () => {
    const webmaster = await app.login();
    const { uuid } = (await webmaster.get('/users/me')).body;
    const put = async (body: object) =>
      problemOf(await webmaster.put(`/users/${uuid}`, { status: 'Blocked', ...body }));
    expect(await put({})).toEqual([403, 'self_block']);
    expect(await put({ username: taken.username })).toEqual([403, 'self_block']);
    expect(await put({ phone: 5 })).toEqual([403, 'self_block']);
  });
});

describe('creating a user', () => {
  const post = async (body: string, headers = {}, path = '/users', client = app.key) =>
    toText(await client.send('POST', path, body, headers));
  const bad = '{"username": 5}';

  test('reports errors in the same order as an update', async () => {
    const text = { 'content-type': 'text/plain' };
    expect(await post('{', text, '/users?x=1', app.guest)).toBe('401 unauthenticated');
    expect(await post('{', text, '/users?x=1', member.client)).toBe('415 unsupported_media_type');
    expect(await post('{', {}, '/users?x=1', member.client)).toBe('400 malformed_json');
    expect(await post(bad, {}, '/users?x=1', member.client)).toBe('400 invalid_parameter');
    expect(await post(bad, {}, '/users', member.client)).toBe('403 forbidden');
    const both = JSON.stringify({ username: taken.username, email: 'no address' });
    expect(await post(both)).toBe('422 validation_failed');
    const one = JSON.stringify({ username: taken.username, email: 'an@example.org' });
    expect(await post(one)).toBe('409 username_taken');
  });
});

test('read and login requests report errors in the documented order', async () => {
  expect(problemOf(await app.guest.get('/users/not-a-uuid?x=1'))).toEqual([401, 'unauthenticated']);
  expect(problemOf(await member.client.get('/users/not-a-uuid'))).toEqual([400, 'malformed_uuid']);
  const external = await aPerson(app, { roles: ['External user'] });
  expect(problemOf(await external.client.get(`/users/${UNKNOWN}`))).toEqual([403, 'forbidden']);
  expect(problemOf(await external.client.get('/users/search?limit=0'))).toEqual([400, 'invalid_parameter']);
  expect(problemOf(await member.client.get(`/users/${UNKNOWN}`))).toEqual([404, 'not_found']);
  const text = { 'content-type': 'text/plain' };
  expect(toText(await app.guest.send('POST', '/sessions/login', '{', text))).toBe(
    '415 unsupported_media_type',
  );
  expect(toText(await app.guest.send('POST', '/sessions/login?x=1', '{'))).toBe('400 malformed_json');
  expect(toText(await app.guest.send('POST', '/sessions/login?x=1', '{}'))).toBe('400 invalid_parameter');
});
