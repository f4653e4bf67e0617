import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { aUser, create } from '../support/data/factories.js';
import { refusal } from '../support/app/problems.js';

/** A bad value gets the same code at creation and at change, and changes nothing. */
let app: TestApp;
let user: Json;
beforeAll(async () => {
  app = await TestApp.start();
  user = await create(app.key);
});
afterAll(() => app.end());

const LINES = [
  'username',
  'phone',
  'mobile',
  'firstname',
  'middle_name',
  'surname',
  'known_as',
  'external_id',
];
const TEXTS = [...LINES, 'email', 'status', 'user_avatar', 'manager_uuid', 'about_me', 'password'];
const FLAGS = ['hide_email', 'hide_phone_numbers'];
const LONE = '\ud83d';

async function expectRefused(field: string, value: unknown, code: string): Promise<void> {
  const created = await app.key.post('/users', aUser({ [field]: value }));
  expect(refusal(created)).toEqual([422, `${field} ${code}`]);
  const changed = await app.key.put(`/users/${user.uuid}`, { [field]: value });
  expect(refusal(changed)).toEqual([422, `${field} ${code}`]);
  expect(changed.body).toMatchObject({ type: '/problems/validation_failed', code: 'validation_failed' });
  expect((await app.key.get(`/users/${user.uuid}`)).body).toEqual(user);
}

describe('a value of another type is never coerced', () => {
  test.each(
    TEXTS.flatMap((field) => [5, 0, true, ['x'], { a: 'x' }].map((value) => [field, value] as const)),
  )('%s: %j', (field, value) => expectRefused(field, value, 'invalid_type'));
  test.each(
    FLAGS.flatMap((field) =>
      ['true', 'false', 1, 0, [true], { a: 1 }].map((value) => [field, value] as const),
    ),
  )('%s: %j', (field, value) => expectRefused(field, value, 'invalid_type'));
  test.each([
    ['roles', 'Editor'],
    ['roles', 5],
    ['roles', true],
    ['roles', { 0: 'Editor' }],
    ['roles', [5]],
    ['roles', [null]],
    ['roles', ['Editor', ['Author']]],
    ['roles', [{}]],
    ['authname', 'x'],
    ['authname', 5],
    ['authname', false],
    ['authname', ['x']],
    ['authname', { saml: 'x' }],
    ['authname', { saml: [5] }],
    ['authname', { saml: [null] }],
    ['authname', { saml: { 0: 'x' } }],
    ['authname', { saml: [['x']] }],
    ['social_media', 'https://example.org'],
    ['social_media', 5],
    ['social_media', ['https://example.org']],
    ['social_media', { linkedin: 5 }],
    ['social_media', { linkedin: ['https://example.org'] }],
    ['social_media', { linkedin: {} }],
  ] as [string, unknown][])('%s: %j', (field, value) => expectRefused(field, value, 'invalid_type'));

  test.each(['firstname', 'about_me', 'user_avatar', 'hide_email', 'manager_uuid'])(
    '%s: an object whose keys are names of built-in members',
    async (field) => {
      await expectRefused(field, { constructor: 'x' }, 'invalid_type');
      await expectRefused(field, { constructor: { name: 'Array' }, then: 'x', toJSON: 1 }, 'invalid_type');
      await expectRefused(field, JSON.parse('{"__proto__": {"length": 1}}'), 'invalid_type');
    },
  );
});

describe('text without control characters or broken Unicode', () => {
  const bad = {
    NUL: 'a\0b',
    tab: 'a\tb',
    newline: 'a\nb',
    escape: 'a\u001bb',
    DEL: 'a\u007fb',
    NEL: 'a\u0085b',
  };
  const broken = { 'lone high surrogate': `a${LONE}b`, 'lone low surrogate': 'a\udc00b' };
  test.each(
    LINES.flatMap((field) =>
      Object.entries({ ...bad, ...broken }).map(([name, value]) => [field, name, value] as const),
    ),
  )('%s: %s', (field, _, value) => expectRefused(field, value, 'invalid_format'));

  test.each(['a\0b', 'a\tb', 'a\u001bb', 'a\u007fb', `a${LONE}`])('about_me: %j', (value) =>
    expectRefused('about_me', value, 'invalid_format'),
  );
  test.each(['a\0@example.org', `a${LONE}@example.org`, 'a\n@example.org', 'a@exa\tmple.org'])(
    'email: %j',
    (value) => expectRefused('email', value, 'invalid_format'),
  );
  test.each(['a\0b', 'a\tb', 'a\nb', `a${LONE}`])('authname: %j', (value) =>
    expectRefused('authname', { saml: [value] }, 'invalid_format'),
  );
  test.each(['https://example.org/\0', `https://example.org/${LONE}`, 'https://example.org/a\nb'])(
    'user_avatar: %j',
    (value) => expectRefused('user_avatar', value, 'invalid_format'),
  );
  test('password: a lone surrogate', () => expectRefused('password', `12345678${LONE}`, 'invalid_format'));
  test('roles: a control character is part of no role', () =>
    expectRefused('roles', ['Edi\0tor'], 'unknown_role'));
});

describe('formats', () => {
  test.each([
    'x',
    '@example.org',
    'x@',
    'x@intranet',
    'a b@example.org',
    'x@exa mple.org',
    'x@@example.org',
    'x@example..org',
    'Jane <x@example.org>',
    'x@example.org, y@example.org',
    'mailto:x@example.org',
  ])('email: %j', (value) => expectRefused('email', value, 'invalid_format'));
  test.each([
    'javascript:alert(1)',
    'data:image/png;base64,AAAA',
    'ftp://example.org/a',
    '//example.org/a',
    '/a.png',
    'example.org/a',
    'http://',
    'https://exa mple.org/',
    'x',
  ])('URLs: %j', async (value) => {
    await expectRefused('user_avatar', value, 'invalid_format');
    await expectRefused('social_media', { twitter: value }, 'invalid_format');
  });
  test.each([
    '1',
    'g0000000-0000-0000-0000-000000000000',
    '00000000-0000-0000-0000-00000000000',
    '{00000000-0000-0000-0000-000000000000}',
    `00000000-0000-0000-0000-00000000000${LONE}`,
  ])('manager_uuid: %j', (value) => expectRefused('manager_uuid', value, 'invalid_format'));
  test.each(['active', 'ACTIVE', 'Deleted', 'true'])('status: %j', (value) =>
    expectRefused('status', value, 'invalid_value'),
  );
  test.each(['SAML', 'sa ml', '', 'sämł', 'a.b', 'a'.repeat(33)])('a method of authname: %j', (method) =>
    expectRefused('authname', { [method]: ['x'] }, 'invalid_format'),
  );
  test.each([[['']], [['x', 'x']], [['x', ' x ']], [[' ']]])('names of authname: %j', (names) =>
    expectRefused('authname', { saml: names }, 'invalid_value'),
  );
});

describe('unknown keys', () => {
  test.each([
    'nickname',
    'Username',
    'user name',
    'password_hash',
    'managed_by',
    'version',
    'constructor',
    'toString',
    '',
    '💥',
    LONE,
  ])('%j', (key) => expectRefused(key, 'x', 'unknown_field'));

  test('__proto__, at the top and inside social_media', async () => {
    const body = JSON.stringify(aUser()).replace('{', '{"__proto__": {"status": "Blocked"}, ');
    expect(refusal(await app.key.send('POST', '/users', body))).toEqual([422, '__proto__ unknown_field']);
    const put = await app.key.send('PUT', `/users/${user.uuid}`, '{"__proto__": {"status": "Blocked"}}');
    expect(refusal(put)).toEqual([422, '__proto__ unknown_field']);
    expect((await app.key.get(`/users/${user.uuid}`)).body).toEqual(user);
    const nested = JSON.parse('{"__proto__": "https://example.org/x"}') as object;
    expect((await app.key.put(`/users/${user.uuid}`, { social_media: nested })).status).toBe(422);
  });

  test.each(['instagram', 'Facebook', 'constructor'])('social_media: %s', (network) =>
    expectRefused('social_media', { [network]: 'https://example.org/x' }, 'unknown_field'),
  );

  test('names the network', async () => {
    const networks = { instagram: 'https://example.org/x', linkedin: '', ['x'.repeat(10_000)]: '' };
    const { body } = await app.key.put(`/users/${user.uuid}`, { social_media: networks });
    expect(body.errors[0].message).toMatch(/^may hold only facebook, linkedin, twitter, not instagram, x+/);
    expect(body.detail).toContain('instagram');
  });
});
