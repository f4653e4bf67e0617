import { expect, test } from '@jest/globals';
import { BASE_URL, setUpApp } from '../support/app/app.js';
import { readAuditRows } from '../support/app/audit-rows.js';
import { aUser, create } from '../support/data/factories.js';
import { refusalOf } from '../support/app/problems.js';

const app = setUpApp();

/** Values of the optional fields that were not sent. */
const EMPTY = {
  external_id: '',
  roles: ['Organisational user'],
  group_roles: [],
  status: 'Active',
  phone: '',
  mobile: '',
  firstname: '',
  middle_name: '',
  surname: '',
  known_as: '',
  authname: {},
  user_avatar: expect.stringContaining(BASE_URL),
  manager_uuid: null,
  about_me: '',
  social_media: {},
  attributes: {},
  hide_email: false,
  hide_phone_numbers: false,
  password_change_required: false,
  managed_by: '',
  managed_part: '',
  blocked_by: '',
};
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

test('POST /users stores default values for missing fields', async () => {
  const body = aUser();
  const created = await app.key.post('/users', body);
  expect([created.status, Object.keys(created.body)]).toEqual([201, ['uuid']]);
  expect(created.headers['location']).toBe(`/api/0.3/users/${created.body.uuid}`);

  const read = await app.key.get(`/users/${created.body.uuid}`);
  expect(read.body).toEqual({
    ...body,
    ...EMPTY,
    uuid: created.body.uuid,
    created: expect.stringMatching(TIME),
    updated: read.body.created,
    last_access: null,
  });
});

test('POST /users stores every field as sent', async () => {
  const manager = await create(app.key);
  const sent = aUser({
    external_id: 'HR-1',
    roles: ['Editor', 'Organisational user'],
    status: 'Blocked',
    phone: '+44 20 7946 0958 ext. 5',
    mobile: 'call reception',
    firstname: 'Zoë',
    middle_name: "O'Neil",
    surname: '陳',
    known_as: '💻',
    authname: { saml: ['zoe@idp', 'ZOE'], 'ldap_2-x': ['cn=zoe,dc=example'] },
    user_avatar: 'https://intranet/zoe.png',
    manager_uuid: manager.uuid,
    about_me: '👩‍💻 First line.\n\n<b>Third</b> line; "quoted" \\ and \' too.',
    social_media: { facebook: 'https://facebook.com/zoe', linkedin: '', twitter: 'http://twitter.com/zoe' },
    hide_email: true,
    hide_phone_numbers: true,
  });
  expect(await create(app.key, sent)).toMatchObject(sent);
});

test('the default user_avatar is an image served by this service', async () => {
  const { user_avatar } = await create(app.key);
  const picture = await app.guest.fetch('GET', String(user_avatar).replace(BASE_URL, ''));
  expect([picture.status, picture.headers['content-type']]).toEqual([200, expect.stringMatching(/^image\//)]);
});

test('a password appears neither in responses nor in the audit', async () => {
  const password = 'plain secret 1234';
  const user = await create(app.key, { password });
  const [row, ...others] = await readAuditRows(app, user.uuid);
  expect([row?.action, others]).toEqual(['user.created', []]);
  expect(row?.changes).toContain('"password"');
  expect(`${row?.changes}${JSON.stringify(user)}`).not.toMatch(/plain secret|argon2|password_hash/);
  await app.login(user.username, password);
});

test.each(['x', '', null, [], {}, false])(
  'POST /users rejects read-only and unknown fields with the value %j',
  async (value) => {
    const readOnly = ['created', 'last_access', 'managed_by', 'updated', 'uuid'];
    const fields = [...readOnly, 'current_password', 'password_hash'].sort();
    const body = aUser(Object.fromEntries(fields.map((field) => [field, value])));
    const errors = fields.map((field) => `${field} unknown_field`);
    expect(refusalOf(await app.key.post('/users', body))).toEqual([422, ...errors]);
  },
);
