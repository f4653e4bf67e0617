import { expect, jest, test } from '@jest/globals';
import { hash } from '@node-rs/argon2';
import { PasswordService } from '../../src/users/passwords/password.service.js';
import { setUpApp } from '../support/app/app.js';
import { create } from '../support/data/factories.js';
import { PASSWORD, aPerson, databaseOf, fieldErrorsOf } from '../support/app/people.js';

/** Changes by a Webmaster take effect even while a password is being verified or hashed. */
const app = setUpApp();

test.each([
  ['the password is changed', [{ password: 'another long password' }]],
  ['the user is blocked', [{ status: 'Blocked' }]],
  ['the password is removed', [{ password: null }]],
])('a login fails if %s while the password is being verified', async (_what, changes) => {
  const user = await create(app.key, { password: 'the old password' });
  const passwords = app.app.get(PasswordService);
  const verify = passwords.verify.bind(passwords);
  const checked = jest.spyOn(passwords, 'verify').mockImplementationOnce(async (...args) => {
    const matches = await verify(...args);
    for (const change of changes) expect((await app.key.put(`/users/${user.uuid}`, change)).status).toBe(200);
    return matches;
  });
  const login = await app.guest.post('/sessions/login', {
    username: user.username,
    password: 'the old password',
  });
  expect(checked).toHaveBeenCalled();
  expect({ status: login.status, code: login.body.code, cookie: login.cookie }).toEqual({
    status: 401,
    code: 'login_failed',
    cookie: '',
  });
});

test('concurrent logins succeed while one login renews the password hash', async () => {
  const user = await create(app.key);
  const old = await hash(PASSWORD, { memoryCost: 4096, timeCost: 1, parallelism: 1 });
  await databaseOf(app).execute('UPDATE users SET password_hash = ? WHERE uuid = ?', [old, user.uuid]);
  const login = async () =>
    (await app.guest.post('/sessions/login', { username: user.username, password: PASSWORD })).status;
  const passwords = app.app.get(PasswordService);
  const verify = passwords.verify.bind(passwords);
  let other = 0;
  jest.spyOn(passwords, 'verify').mockImplementationOnce(async (...args) => {
    const matches = await verify(...args);
    other = await login();
    return matches;
  });
  expect({ first: await login(), other }).toEqual({ first: 200, other: 200 });
});

test.each([
  ['changes the password', [{ password: 'set by a Webmaster' }], 'set by a Webmaster'],
  ['removes the password', [{ password: null }], undefined],
  ['blocks the user', [{ status: 'Blocked' }], undefined],
])("a user's own password change fails if an operator %s meanwhile", async (_what, changes, good) => {
  const { user, client } = await aPerson(app);
  const passwords = app.app.get(PasswordService);
  const hashNew = passwords.hash.bind(passwords);
  const hashed = jest.spyOn(passwords, 'hash').mockImplementationOnce(async (...args) => {
    const created = await hashNew(...args);
    for (const change of changes) expect((await app.key.put(`/users/${user.uuid}`, change)).status).toBe(200);
    return created;
  });
  const own = { password: 'set by a thief', current_password: PASSWORD, known_as: 'Thief' };
  const answer = await client.put(`/users/${user.uuid}`, own);
  expect(hashed).toHaveBeenCalled();
  expect([answer.status, fieldErrorsOf(answer)]).toEqual([422, [['current_password', 'invalid_value']]]);
  expect((await app.key.get(`/users/${user.uuid}`)).body.known_as).toBe('');
  await app.key.put(`/users/${user.uuid}`, { status: 'Active' });
  const tryLogin = async (password: string) =>
    (await app.guest.post('/sessions/login', { username: user.username, password })).status;
  expect(await tryLogin('set by a thief')).toBe(401);
  if (good !== undefined) expect(await tryLogin(good)).toBe(200);
});
