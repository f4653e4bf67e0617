import { beforeAll, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { readAuditRows } from '../support/app/audit-rows.js';
import { csv, runImport } from '../support/app/imports.js';
import { create } from '../support/data/factories.js';
import {
  ENTERPRISE,
  ROLLCALL,
  type ScimClient,
  aScimUser,
  provision,
  createScimClient,
  scimOf,
} from '../support/app/scim.js';

const app = setUpApp();
const scim = scimOf(app);
const providers: [profile: string, client: ScimClient][] = [];
beforeAll(async () => {
  for (const profile of ['standard', 'entra', 'okta', 'midpoint'])
    providers.push([profile, await createScimClient(app, { profile })]);
});

/** Sends the response of GET in a PUT with every key profile, and expects no change and no audit event. */
async function putBack(id: string): Promise<void> {
  for (const [profile, provider] of providers) {
    const before = (await provider.get(`/Users/${id}`)).body;
    const rows = await readAuditRows(app, id);
    const put = await provider.put(`/Users/${id}`, before);
    expect({ profile, status: put.status, body: put.body }).toEqual({ profile, status: 200, body: before });
    expect(await readAuditRows(app, id)).toHaveLength(rows.length);
  }
}

const FULL = {
  externalId: 'full-1',
  name: { givenName: 'A', middleName: 'B', familyName: 'C', formatted: 'Dr A B C', honorificPrefix: 'Dr' },
  displayName: 'A C',
  nickName: 'Ace',
  title: 'Guide',
  locale: 'en-GB',
  active: false,
  emails: [
    { value: 'home@example.net', type: 'home' },
    { value: 'full@example.org', type: 'work', display: 'Work', primary: true },
    { value: 'third@example.net' },
  ],
  phoneNumbers: [
    { value: '+3', type: 'fax' },
    { value: '+1', type: 'mobile', primary: true },
    { value: '+2', type: 'work' },
    { value: '+4', type: 'work', display: 'second' },
    { value: '+5' },
  ],
  photos: [
    { value: 'https://example.org/t.png', type: 'thumbnail' },
    { value: 'https://example.org/p.png', type: 'photo' },
  ],
  addresses: [{ streetAddress: '1 Road\nTown', type: 'home', primary: true }],
  roles: [{ value: 'Editor' }],
  [ENTERPRISE]: { employeeNumber: '007', manager: { value: 'a name of no user' } },
  [ROLLCALL]: {
    authname: [
      { method: 'saml', value: 'f1' },
      { method: 'oidc', value: 'f2' },
    ],
    hidePhoneNumbers: true,
  },
};

test('a PUT of the GET response does not change a SCIM user', async () => {
  const made = await provision(scim, FULL);
  expect(made).toMatchObject(FULL);
  await putBack(made.id);
  await putBack((await provision(scim)).id);
  await putBack((await scim.post('/Users', { userName: 'mail@example.org' })).body.id);
});

test('a PUT of the GET response does not change a REST API user', async () => {
  const boss = await create(app.key);
  const user = await create(app.key, {
    phone: '+1',
    mobile: '+2',
    user_avatar: 'https://example.org/a.png',
    about_me: 'x\ny',
    manager_uuid: boss.uuid,
    social_media: { twitter: 'https://example.org/t' },
    authname: { saml: ['a', 'b'] },
    roles: ['Editor', 'Author'],
    status: 'Blocked',
  });
  await putBack(user.uuid);
  await putBack(boss.uuid);
});

test('a PUT of the GET response does not change an imported user', async () => {
  const file = csv('ExternalId,Username,Email,Phone,Roles', 'E1,csv-user,csv@example.org,+9,Editor;Author');
  await runImport(app.key, file);
  const found = (await scim.find('externalId eq "E1"')).body.Resources[0];
  expect(found).toMatchObject({ userName: 'csv-user', phoneNumbers: [{ value: '+9', type: 'work' }] });
  await putBack(found.id);
});

test('a REST API update changes only the SCIM attributes of updated fields', async () => {
  const { id } = await provision(scim, {
    ...FULL,
    externalId: 'full-2',
    emails: [
      { value: 'x2@example.net', type: 'home' },
      { value: 'w2@example.org', type: 'work', display: 'W' },
    ],
    [ROLLCALL]: {},
  });
  const change = {
    email: 'new@example.org',
    phone: '',
    mobile: '+77',
    user_avatar: 'https://example.org/n.png',
  };
  expect((await app.key.put(`/users/${id}`, change)).status).toBe(200);
  const { emails, phoneNumbers, photos } = (await scim.get(`/Users/${id}`)).body;
  expect(emails).toEqual([
    { value: 'x2@example.net', type: 'home' },
    { value: 'new@example.org', type: 'work', display: 'W' },
  ]);
  expect(phoneNumbers).toEqual([
    { value: '+3', type: 'fax' },
    { value: '+77', type: 'mobile', primary: true },
    { value: '+4', type: 'work', display: 'second' },
    { value: '+5' },
  ]);
  expect(photos[1]).toEqual({ value: 'https://example.org/n.png', type: 'photo' });
  await putBack(id);
  expect((await app.key.get(`/users/${id}`)).body.email).toBe('new@example.org');
});

test('the last primary SCIM email becomes the email of the user', async () => {
  const two = [
    { value: 'p1@example.org', primary: true },
    { value: 'p2@example.org', primary: true },
  ];
  const { id, emails } = await provision(scim, { emails: two });
  expect(emails).toEqual([{ value: 'p1@example.org' }, { value: 'p2@example.org', primary: true }]);
  const add = { op: 'add', path: 'emails', value: [{ value: 'p3@example.org', primary: true }] };
  expect((await scim.patch(`/Users/${id}`, add)).body.emails.filter((each: Json) => each.primary)).toEqual(
    add.value,
  );
  expect((await app.key.get(`/users/${id}`)).body.email).toBe('p3@example.org');
  const body = aScimUser({
    emails: [
      { value: 'h4@example.org', type: 'home' },
      { value: 'w4@example.org', type: 'Work' },
    ],
  });
  const work = (await scim.post('/Users', body)).body.id;
  expect((await app.key.get(`/users/${work}`)).body.email).toBe('w4@example.org');
});
