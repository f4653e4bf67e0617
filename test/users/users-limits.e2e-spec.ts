import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import { aUser, create } from '../support/data/factories.js';
import { refusal } from '../support/app/problems.js';

/** The longest value is stored in full, one character more is refused. Characters are Unicode code points. */
let app: TestApp;
beforeAll(async () => void (app = await TestApp.start({ EXTRA_ROLES: EXTRA.join(',') })));
afterAll(() => app.end());

const EXTRA = Array.from({ length: 40 }, (_, index) => `Extra ${index + 10}`);
const times = <T>(count: number, item: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => item(i));

async function expectLimit(
  field: string,
  longest: unknown,
  longer: unknown,
  code = 'too_long',
): Promise<void> {
  const user = await create(app.key, { [field]: longest });
  expect(user[field]).toEqual(longest);
  expect(refusal(await app.key.post('/users', aUser({ [field]: longer })))).toEqual([
    422,
    `${field} ${code}`,
  ]);
  expect(refusal(await app.key.put(`/users/${user.uuid}`, { [field]: longer }))).toEqual([
    422,
    `${field} ${code}`,
  ]);
  expect((await app.key.put(`/users/${user.uuid}`, { [field]: longest })).body).toEqual(user);
}

/** Characters in no order that a guess would try. */
const VARIED = 'qm7Zt-Xw2Ka9Lp4Vc8Rb3Ny6';

describe.each([
  ['ASCII', 'x'],
  ['three bytes', '語'],
  ['emoji', '💥'],
  ['letters beyond the basic plane', '𠀀'],
  ['letters that grow when they are folded', 'ﷺ'],
])('%s', (_, char) => {
  test.each([
    ['username', 254],
    ['external_id', 255],
    ['phone', 64],
    ['mobile', 64],
    ['firstname', 255],
    ['middle_name', 255],
    ['surname', 255],
    ['known_as', 255],
    ['about_me', 10_000],
  ])('%s: %d characters', (field, max) => expectLimit(field, char.repeat(max), char.repeat(max + 1)));

  test('a name of authname: 255 characters', () =>
    expectLimit('authname', { saml: [char.repeat(255)] }, { saml: [`y${char.repeat(255)}`] }));

  test('password: 12 to 128 characters', async () => {
    const password = (length: number): string =>
      char + Array.from({ length: length - 1 }, (_, at) => VARIED[(at * 7) % VARIED.length]).join('');
    for (const [length, code] of [
      [11, 'too_short'],
      [129, 'too_long'],
    ] as const) {
      const answer = await app.key.post('/users', aUser({ password: password(length) }));
      expect(refusal(answer)).toEqual([422, `password ${code}`]);
    }
    for (const length of [12, 128]) {
      const { username } = await create(app.key, { password: password(length) });
      await app.login(username, password(length));
    }
  });
});

test('surrounding white space does not count, a composed letter counts once', async () => {
  const user = await create(app.key, { phone: ` ${'x'.repeat(64)} `, mobile: 'e\u0301'.repeat(64) });
  expect(user).toMatchObject({ phone: 'x'.repeat(64), mobile: 'é'.repeat(64) });
});

test('email: 254 characters, 64 of them before the @', async () => {
  const domain = `${`${'d'.repeat(60)}.`.repeat(3)}example.org`;
  const longest = `${'l'.repeat(254 - domain.length - 1)}@${domain}`;
  expect(longest).toHaveLength(254);
  await expectLimit('email', longest, `l${longest}`);
});

test.each(['p', 'é', 'ö'])('email: 64 characters before the @ (%s)', async (char) => {
  const local = char.repeat(64);
  await expectLimit('email', `${local}@example.org`, `${local}${char}@example.org`);
});

test('user_avatar and the URLs of social_media: 2048 characters', async () => {
  const url = (length: number) => 'https://example.org/'.padEnd(length, 'x');
  await expectLimit('user_avatar', url(2048), url(2049));
  const media = (length: number) => ({ facebook: '', linkedin: url(length), twitter: '' });
  await expectLimit('social_media', media(2048), media(2049));
});

test('roles: 32, each once', async () => {
  await expectLimit('roles', EXTRA.slice(0, 32), EXTRA.slice(0, 33));
  await expectLimit('roles', ['Author', 'Editor'], ['Editor', 'Author', 'editor'], 'invalid_value');
});

describe('authname', () => {
  const methods = (count: number, prefix: string) =>
    Object.fromEntries(times(count, (index) => [`${prefix}-${index}`, [`name ${prefix}`]]));

  test('8 methods of at most 32 characters', async () => {
    await expectLimit('authname', methods(8, 'a'), methods(9, 'b'));
    await expectLimit('authname', { ['m'.repeat(32)]: ['x'] }, { ['m'.repeat(33)]: ['y'] }, 'invalid_format');
  });

  test('20 names of a method', () =>
    expectLimit('authname', { saml: times(20, (i) => `n${i}`) }, { saml: times(21, (i) => `m${i}`) }));

  test('8 methods also where a change adds to existing ones', async () => {
    const user = await create(app.key, { authname: methods(8, 'c') });
    const added = await app.key.put(`/users/${user.uuid}`, { authname: { other: ['x'] } });
    expect(refusal(added)).toEqual([422, 'authname too_long']);
    expect((await app.key.get(`/users/${user.uuid}`)).body).toEqual(user);
    const exchanged = await app.key.put(`/users/${user.uuid}`, { authname: { other: ['x'], 'c-0': [] } });
    expect([exchanged.status, Object.keys(exchanged.body.authname ?? {}).length]).toEqual([200, 8]);
  });
});
