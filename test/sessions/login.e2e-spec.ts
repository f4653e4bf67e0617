import { hash } from '@node-rs/argon2';
import { beforeAll, describe, expect, test, jest } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Answer, Json } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { PASSWORD, databaseOf, fieldErrorsOf, problemOf, aPerson } from '../support/app/people.js';
import { PasswordService } from '../../src/users/passwords/password.service.js';

const app = setUpApp();
let zoe: Json;
let blocked: Json;
let passwordless: Json;

beforeAll(async () => {
  zoe = await create(app.key, { username: 'Zoë Strauß', email: 'Zoe.S@Example.org', password: PASSWORD });
  blocked = await create(app.key, { password: PASSWORD, status: 'Blocked' });
  passwordless = await create(app.key);
});

const login = (username: unknown, password: unknown = PASSWORD): Promise<Answer> =>
  app.guest.post('/sessions/login', { username, password });

test.each([
  ['the username', 'Zoë Strauß'],
  ['the username in capitals', 'ZOË STRAUSS'],
  ['the username with decomposed accents', 'Zoë Strauß'.normalize('NFD')],
  ['the username with extra spaces', '  zoë   strauß '],
  ['the email', 'Zoe.S@Example.org'],
  ['the email in another case', 'zoe.s@EXAMPLE.ORG'],
])('a login accepts %s', async (_, name) => {
  const answer = await login(name);
  expect([answer.status, answer.body]).toEqual([200, { uuid: zoe.uuid, username: 'Zoë Strauß' }]);
});

test.each([
  ['an extra space at the end', PASSWORD, `${PASSWORD} `],
  ['a different case', PASSWORD, PASSWORD.toUpperCase()],
])('a login fails if the password is sent with %s', async (_, password, other) => {
  const user = await create(app.key, { password });
  expect(problemOf(await login(user.username, other))).toEqual([401, 'login_failed']);
  expect((await login(user.username, password)).status).toBe(200);
});

test('a login accepts a stored password that breaks the current rules', async () => {
  for (const [password, other] of [
    ['hunter2', 'hunter3'],
    ['eight\0and more', 'eight\0and less'],
  ] as const) {
    const user = await create(app.key);
    const stored = await hash(password);
    await databaseOf(app).execute('UPDATE users SET password_hash = ? WHERE uuid = ?', [stored, user.uuid]);
    expect(problemOf(await login(user.username, other))).toEqual([401, 'login_failed']);
    expect((await login(user.username, password)).status).toBe(200);
  }
});

test('a login accepts composed and decomposed accents in the password', async () => {
  const user = await create(app.key, { password: 'déjà vu déjà'.normalize('NFD') });
  expect((await login(user.username, 'déjà vu déjà'.normalize('NFC'))).status).toBe(200);
  const other = await create(app.key, { password: 'déjà vu déjà'.normalize('NFC') });
  expect((await login(other.username, 'déjà vu déjà'.normalize('NFD'))).status).toBe(200);
});

describe('a refused login', () => {
  const listRefusals = (): [string, string, string][] => [
    ['wrong password', zoe.username, 'not the password'],
    ['unknown name', `nobody-${Math.random()}`, PASSWORD],
    ['blocked user', blocked.username, PASSWORD],
    ['user without a password', passwordless.username, PASSWORD],
  ];

  test('does not reveal the reason', async () => {
    const answers = [];
    for (const [, name, password] of listRefusals()) {
      const { status, body, headers } = await login(name, password);
      expect(headers['set-cookie']).toBeUndefined();
      answers.push({ status, body: { ...body, request_id: '' }, headers: Object.keys(headers) });
    }
    expect(answers[0]).toMatchObject({ status: 401, body: { code: 'login_failed', status: 401 } });
    for (const answer of answers) expect(answer).toEqual(answers[0]);
  });

  test('takes similar CPU time for every reason', async () => {
    // CPU time, because other work on the machine affects the elapsed time.
    const least = new Map<string, number>();
    for (let round = 0; round < 3; round++) {
      for (const [reason, name, password] of listRefusals()) {
        const start = process.cpuUsage();
        expect((await login(name, password)).status).toBe(401);
        const { user, system } = process.cpuUsage(start);
        least.set(reason, Math.min(least.get(reason) ?? Infinity, user + system));
      }
    }
    const work = [...least.values()];
    expect(Math.min(...work)).toBeGreaterThan(Math.max(...work) / 3);
  });

  test('is also caused by a username with wrong accents', async () => {
    expect(problemOf(await login('Zoe Strauß'))).toEqual([401, 'login_failed']);
  });
});

describe('a login request', () => {
  const good = { username: 'admin', password: PASSWORD };

  test.each<[string, object, [string, string][]]>([
    ['no fields', {}, [['password', 'required'], ['username', 'required']]], // prettier-ignore
    ['empty values', { username: ' ', password: '' }, [['password', 'blank'], ['username', 'blank']]], // prettier-ignore
    ['null values', { username: null, password: null }, [['password', 'blank'], ['username', 'blank']]], // prettier-ignore
    ['wrong types', { username: 5, password: ['x'] }, [['password', 'invalid_type'], ['username', 'invalid_type']]], // prettier-ignore
    ['a username that is too long', { ...good, username: 'x'.repeat(255) }, [['username', 'too_long']]],
    ['an unknown field', { ...good, remember: true }, [['remember', 'unknown_field']]],
  ])('returns 422 if its body has %s', async (_, body, errors) => {
    const answer = await app.guest.post('/sessions/login', body);
    expect(problemOf(answer)).toEqual([422, 'validation_failed']);
    expect(fieldErrorsOf(answer)).toEqual(errors);
  });

  test.each(['a\0b', '\0', '\ud800', 'a\nb', '\u{1f600}'.repeat(254)])(
    'causes no server error with the unusual username %j',
    async (name) => {
      expect([401, 422]).toContain((await login(name)).status);
    },
  );
});

/** Changes by a Webmaster take effect even while a password is being verified or hashed. */
test.each([
  ['the password is changed', { password: 'another long password' }],
  ['the user is blocked', { status: 'Blocked' }],
  ['the password is removed', { password: null }],
])('a login fails if %s while the password is being verified', async (_what, change) => {
  const user = await create(app.key, { password: 'the old password' });
  const passwords = app.app.get(PasswordService);
  const verify = passwords.verify.bind(passwords);
  const checked = jest.spyOn(passwords, 'verify').mockImplementationOnce(async (...args) => {
    const matches = await verify(...args);
    expect((await app.key.put(`/users/${user.uuid}`, change)).status).toBe(200);
    return matches;
  });
  const answer = await login(user.username, 'the old password');
  expect(checked).toHaveBeenCalled();
  expect([...problemOf(answer), answer.cookie]).toEqual([401, 'login_failed', '']);
});

test('concurrent logins succeed while one login renews the password hash', async () => {
  const user = await create(app.key);
  const old = await hash(PASSWORD, { memoryCost: 4096, timeCost: 1, parallelism: 1 });
  await databaseOf(app).execute('UPDATE users SET password_hash = ? WHERE uuid = ?', [old, user.uuid]);
  const passwords = app.app.get(PasswordService);
  const verify = passwords.verify.bind(passwords);
  let other = 0;
  jest.spyOn(passwords, 'verify').mockImplementationOnce(async (...args) => {
    const matches = await verify(...args);
    other = (await login(user.username)).status;
    return matches;
  });
  expect([(await login(user.username)).status, other]).toEqual([200, 200]);
});

test.each([
  ['changes the password', { password: 'set by a Webmaster' }, 'set by a Webmaster'],
  ['removes the password', { password: null }, undefined],
  ['blocks the user', { status: 'Blocked' }, undefined],
])("a user's own password change fails if an operator %s meanwhile", async (_what, change, good) => {
  const { user, client } = await aPerson(app);
  const passwords = app.app.get(PasswordService);
  const hashNew = passwords.hash.bind(passwords);
  const hashed = jest.spyOn(passwords, 'hash').mockImplementationOnce(async (...args) => {
    const created = await hashNew(...args);
    expect((await app.key.put(`/users/${user.uuid}`, change)).status).toBe(200);
    return created;
  });
  const own = { password: 'set by a thief', current_password: PASSWORD, known_as: 'Thief' };
  const answer = await client.put(`/users/${user.uuid}`, own);
  expect(hashed).toHaveBeenCalled();
  expect([answer.status, fieldErrorsOf(answer)]).toEqual([422, [['current_password', 'invalid_value']]]);
  expect((await app.key.get(`/users/${user.uuid}`)).body.known_as).toBe('');
  await app.key.put(`/users/${user.uuid}`, { status: 'Active' });
  expect((await login(user.username, 'set by a thief')).status).toBe(401);
  if (good !== undefined) expect((await login(user.username, good)).status).toBe(200);
});
