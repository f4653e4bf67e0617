import { beforeAll, describe, expect, test } from '@jest/globals';
import { type TestApp, setUpApp } from '../support/app/app.js';
import type { Answer } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { PASSWORD, aPerson, databaseOf } from '../support/app/people.js';
import { formatFieldErrors } from '../support/app/problems.js';

/** The same password rules apply wherever a password is set. */
const NAME = 'rosalind.franklin';
const app = setUpApp();

const BAD: [string, string, string][] = [
  ['eleven characters', 'k7#Vq2!mZx9', 'password too_short'],
  ['a common password', 'password1234', 'password too_common'],
  ['control characters', 'k7#Vq2!mZx9p\u0007', 'password invalid_format'],
  ['the username', NAME.toUpperCase(), 'password invalid_value'],
  ['the email', `${NAME}@Example.org`, 'password invalid_value'],
  ['the username with digits', `${NAME}1962`, 'password too_common'],
  ['the names in another order', 'Ashbourne#Mary#8305729', 'password too_common'],
  ['the external id with a number', 'Loxley-8305729461', 'password too_common'],
];
const buildNames = () => ({
  ...{ username: NAME, email: `${NAME}@example.org`, external_id: 'X-Loxley' },
  ...{ firstname: 'Mary', surname: 'Ashbourne' },
});
const readStored = (uuid: string) =>
  databaseOf(app).queryOne('SELECT password_hash, version FROM users WHERE uuid = ?', [uuid]);

describe('an invalid password', () => {
  let webmaster: Awaited<ReturnType<TestApp['login']>>;
  let person: Awaited<ReturnType<typeof aPerson>>;
  beforeAll(async () => {
    webmaster = await app.login();
    person = await aPerson(app, buildNames());
  });

  test.each(BAD)('is refused from every caller: %s', async (_, password, error) => {
    const path = `/users/${person.user.uuid as string}`;
    const before = await readStored(person.user.uuid);
    const attempts: Promise<Answer>[] = [
      app.key.post('/users', { ...buildNames(), password }),
      app.key.put(path, { password }),
      webmaster.put(path, { password }),
      person.client.put(path, { password, current_password: PASSWORD }),
    ];
    for (const answer of await Promise.all(attempts)) {
      expect([answer.status, formatFieldErrors(answer)]).toEqual([422, [error]]);
      expect(answer.text).not.toContain(JSON.stringify(password).slice(1, -1));
    }
    expect(await readStored(person.user.uuid)).toEqual(before);
  });
});

test('a new password may not contain the new username', async () => {
  const path = `/users/${(await create(app.key)).uuid as string}`;
  const both = await app.key.put(path, { username: 'dorothy.hodgkin', password: 'Dorothy.Hodgkin1910' });
  expect([both.status, formatFieldErrors(both)]).toEqual([422, ['password too_common']]);
});

test('a password of 12 to 128 characters may use any alphabet', async () => {
  for (const password of [
    `  ${PASSWORD}  `,
    '😀😁😂😃😄😅😆😇😈😉😊😋',
    'пароль не найден',
    'k7#Vq2!mZx9p',
    'k7#Vq2!mZx9p'.repeat(11).slice(0, 128),
  ]) {
    const { username } = await create(app.key, { password });
    expect((await app.guest.post('/sessions/login', { username, password })).status).toBe(200);
    const other = await app.guest.post('/sessions/login', { username, password: `${password} ` });
    expect(other.status).toBe(401);
  }
});
