import { beforeAll, describe, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { DOCUMENT } from '../support/app/operations.js';
import { PASSWORD, type Person, aPerson, problemOf } from '../support/app/people.js';

/** Fields that every user may change in their own profile, each with a new value. */
const ALLOWED: [string, Json][] = [
  ['phone', '+44 20 7946 0000'],
  ['mobile', '+44 7700 900000'],
  ['known_as', 'Kim'],
  ['user_avatar', 'https://example.org/kim.png'],
  ['about_me', 'One line\nand another'],
  ['social_media', { facebook: '', linkedin: 'https://example.org/kim', twitter: '' }],
  ['hide_email', true],
  ['hide_phone_numbers', true],
];
/** Fields that only Webmasters and API keys may change, each with a value that differs from `FULL`. */
const RESTRICTED: [string, Json][] = [
  ['username', 'somebody else'],
  ['email', 'somebody.else@example.org'],
  ['external_id', 'HR-2'],
  ['roles', ['Publisher']],
  ['status', 'Blocked'],
  ['firstname', 'Other'],
  ['middle_name', 'Other'],
  ['surname', 'Other'],
  ['authname', { saml: ['other@idp'] }],
  ['manager_uuid', '00000000-0000-4000-8000-000000000000'],
];
const FULL = { firstname: 'Kimberley', middle_name: 'A', surname: 'Doe' };
const PASSWORDS = ['password', 'current_password'];
const READ_ONLY = [
  'uuid',
  'created',
  'updated',
  'last_access',
  'attributes',
  'group_roles',
  'password_change_required',
  'managed_by',
  'managed_part',
  'blocked_by',
];

const app = setUpApp();
const people: Record<string, Person> = {};
beforeAll(async () => {
  const manager_uuid = (await create(app.key)).uuid;
  for (const [who, roles] of [
    ['External user', ['External user']],
    ['member', ['Editor', 'Author']],
  ] as const) {
    const identifiers = { external_id: `HR  1 ${who}`, authname: { saml: [`${who}@idp`] } };
    people[who] = await aPerson(app, { ...FULL, manager_uuid, roles, ...identifiers });
  }
});

const readAsKey = async (uuid: string): Promise<Json> => (await app.key.get(`/users/${uuid}`)).body;

test('the field permission tests cover every field of a PUT', () => {
  const documented = Object.keys(DOCUMENT.components.schemas.ChangedUserInput.properties as object);
  const tested = [...[...ALLOWED, ...RESTRICTED].map(([field]) => field), ...READ_ONLY, ...PASSWORDS];
  expect(new Set(documented)).toEqual(new Set(tested));
});

describe.each(['External user', 'member'])("a PUT of one's profile (%s)", (who) => {
  const put = (body: object) => people[who]!.client.put(`/users/${people[who]!.user.uuid}`, body);
  const readCurrent = () => readAsKey(people[who]!.user.uuid);

  test.each(ALLOWED)('changes the permitted field %s', async (field, value) => {
    const answer = await put({ [field]: value });
    expect([answer.status, answer.body[field]]).toEqual([200, value]);
    expect((await readCurrent())[field]).toEqual(value);
    expect((await put({ [field]: null })).status).toBe(200);
  });

  test.each(RESTRICTED)('rejects the restricted field %s', async (field, value) => {
    const before = await readCurrent();
    for (const sent of [value, null]) {
      const answer = await put({ [field]: sent });
      expect(problemOf(answer)).toEqual([403, 'field_not_permitted']);
      expect(answer.body.detail).toContain(field);
    }
    expect(await readCurrent()).toEqual(before);
  });

  test.each([{ authname: {} }, { authname: { saml: [] } }, { external_id: '' }, { roles: [] }])(
    'rejects an empty restricted field: %j',
    async (body) => {
      const before = await readCurrent();
      expect(problemOf(await put(body))).toEqual([403, 'field_not_permitted']);
      expect(await readCurrent()).toEqual(before);
    },
  );

  test('accepts the unchanged profile', async () => {
    const read = await people[who]!.client.get('/users/me');
    const answer = await put(read.body);
    expect([answer.status, answer.body]).toEqual([200, read.body]);
    expect((await readCurrent()).authname).toEqual({ saml: [expect.stringContaining('@idp')] });
  });

  test('lists all restricted fields in the error', async () => {
    const before = await readCurrent();
    const answer = await put({ known_as: 'Sam', surname: 'Other', roles: ['Webmaster'], status: 'Active' });
    expect(problemOf(answer)).toEqual([403, 'field_not_permitted']);
    expect(answer.body.detail).toMatch(/roles/);
    expect(answer.body.detail).toMatch(/surname/);
    expect(answer.body.detail).not.toMatch(/known_as|status/);
    expect(await readCurrent()).toEqual(before);
  });

  test('ignores the case of roles and UUIDs', async () => {
    const before = await readCurrent();
    const answer = await put({
      roles: [...before.roles].reverse().map((role: string) => ` ${role.toUpperCase()}`),
      manager_uuid: before.manager_uuid.toUpperCase(),
      uuid: before.uuid.toUpperCase(),
    });
    expect([answer.status, answer.body.roles]).toEqual([200, before.roles]);
  });
});

test('users may send empty values for their unset restricted fields', async () => {
  const { user, client } = await aPerson(app);
  for (const empty of ['', null]) {
    const fields = ['external_id', 'firstname', 'middle_name', 'surname', 'manager_uuid'];
    const body = Object.fromEntries(fields.map((field) => [field, empty]));
    expect((await client.put(`/users/${user.uuid}`, body)).status).toBe(200);
  }
});

test('a Webmaster can change every field of another user', async () => {
  const { client } = await aPerson(app, { roles: ['Webmaster'] });
  const user = await create(app.key);
  const body = Object.fromEntries([...ALLOWED, ...RESTRICTED].filter(([field]) => field !== 'manager_uuid'));
  const answer = await client.put(`/users/${user.uuid}`, { ...body, password: PASSWORD });
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject(body);
});
