import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { PasswordService } from '../src/users/password.service.js';
import { TestApp } from './support/app.js';
import { create } from './support/factories.js';

/** Checking a password takes its time; what a Webmaster changes meanwhile counts. */
let app: TestApp;
beforeAll(async () => void (app = await TestApp.start()));
afterAll(() => app.end());

test.each([
  ['the password is changed', [{ password: 'another password' }]],
  ['the user is blocked', [{ status: 'Blocked' }]],
  ['the password is removed', [{ password: null }]],
])('a login during which %s gets no session', async (_what, changes) => {
  const user = await create(app.key, { password: 'the old password' });
  const passwords = app.app.get(PasswordService);
  const verify = passwords.verify.bind(passwords);
  const checked = jest.spyOn(passwords, 'verify').mockImplementationOnce(async (...given) => {
    const fits = await verify(...given);
    for (const change of changes) expect((await app.key.put(`/users/${user.uuid}`, change)).status).toBe(200);
    return fits;
  });
  const login = await app.nobody.post('/sessions/login', {
    username: user.username,
    password: 'the old password',
  });
  expect(checked).toHaveBeenCalled();
  expect([login.status, login.body.code, login.cookie]).toEqual([401, 'login_failed', '']);
});
