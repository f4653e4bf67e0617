import { beforeAll, describe, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { aUser, create } from '../support/data/factories.js';
import { csv, findUser, runImport } from '../support/app/imports.js';
import { EXTRA_ROLES, LIMITS } from '../support/data/user-fields.js';
import { aPerson } from '../support/app/people.js';
import { refusalOf } from '../support/app/problems.js';

/** Invalid values are tested in detail in `unit/user-input` and `unit/user-text`. */
const app = setUpApp({ EXTRA_ROLES: EXTRA_ROLES.join(',') });

describe('an invalid value', () => {
  let user: Json;
  beforeAll(async () => void (user = await create(app.key)));

  test.each([
    ['phone', 'invalid_type', 5],
    ['hide_email', 'invalid_type', 'true'],
    ['authname', 'invalid_type', { saml: 'x' }],
    ['firstname', 'invalid_type', JSON.parse('{"__proto__": {"length": 1}}')],
    ['username', 'blank', ' '],
    ['surname', 'invalid_format', 'a\0b'],
    ['known_as', 'invalid_format', 'a\ud83d'],
    ['email', 'invalid_format', 'x'],
    ['user_avatar', 'invalid_format', 'javascript:alert(1)'],
    ['manager_uuid', 'invalid_format', '1'],
    ['status', 'invalid_value', 'current'],
    ['about_me', 'too_long', 'x'.repeat(10_001)],
    ['roles', 'unknown_role', ['Editor', 'nobody']],
    ['social_media', 'unknown_field', { instagram: 'https://example.org/x' }],
    ['nickname', 'unknown_field', 'x'],
    ['__proto__', 'unknown_field', { status: 'Blocked' }],
  ] as [string, string, unknown][])('of %s returns 422 with the code %s', async (field, code, value) => {
    const created = await app.key.post('/users', aUser({ [field]: value }));
    for (const answer of [created, await app.key.put(`/users/${user.uuid}`, { [field]: value })]) {
      expect(refusalOf(answer)).toEqual([422, `${field} ${code}`]);
      expect(answer.body).toMatchObject({ type: '/problems/validation_failed', code: 'validation_failed' });
    }
    expect((await app.key.get(`/users/${user.uuid}`)).body).toEqual(user);
  });

  test("returns 422 in a PUT of one's own profile", async () => {
    const { client, user: own } = await aPerson(app);
    const answer = await client.put(`/users/${own.uuid}`, { phone: 5, nickname: 'x', about_me: 'a\0b' });
    const errors = ['about_me invalid_format', 'nickname unknown_field', 'phone invalid_type'];
    expect(refusalOf(answer)).toEqual([422, ...errors]);
  });
});

test.each(['blocked', 'BLOCKED', ' Blocked '])('the status %j is stored as Blocked', async (status) => {
  const { uuid, username } = await create(app.key, { status: status.toLowerCase() });
  expect((await app.key.get(`/users/${uuid}`)).body.status).toBe('Blocked');
  await app.key.put(`/users/${uuid}`, { status: 'aCtive' });
  expect((await app.key.put(`/users/${uuid}`, { status })).body.status).toBe('Blocked');
  const query = `/users/search?username=${username}&status=${status.trim()}`;
  expect((await app.key.get(query)).body.Count).toBe(1);
  const id = `status ${String(uuid)}`;
  await runImport(
    app.key,
    csv('ExternalId,Username,Email,Status', `${id},${id},${uuid}@example.org,${status}`),
  );
  expect((await findUser(app.key, id)).status).toBe('Blocked');
  const wrong = await app.key.put(`/users/${uuid}`, { status: 'Current' });
  expect(wrong.body.errors[0].message).toBe('must be Active or Blocked');
});

test.each([
  ['ASCII', 'x'],
  ['letters of three bytes', '語'],
  ['emoji', '💥'],
  ['letters outside the BMP', '𠀀'],
  ['letters that expand when folded', 'ﷺ'],
])('values of the maximum length fit into the database: %s', async (_, char) => {
  const domain = `${`${'d'.repeat(60)}.`.repeat(3)}example.org`;
  const url = 'https://example.org/'.padEnd(2048, 'x');
  const names = Array.from({ length: 20 }, (_name, index) => `${char.repeat(253)}${index + 10}`);
  const longest = {
    ...Object.fromEntries(LIMITS.map(([field, max]) => [field, char.repeat(max)])),
    email: `${String(char.codePointAt(0)).padEnd(254 - domain.length - 1, 'l')}@${domain}`,
    user_avatar: url,
    social_media: { facebook: url, linkedin: url, twitter: url },
    roles: EXTRA_ROLES.slice(0, 32),
    authname: Object.fromEntries(
      Array.from({ length: 8 }, (_method, index) => [`${'m'.repeat(31)}${index}`, names]),
    ),
  };
  const { uuid, ...user } = await create(app.key, longest);
  expect(user).toMatchObject(longest);
  expect((await app.key.put(`/users/${uuid}`, longest)).body).toMatchObject(longest);
});
