import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { aUser } from '../support/data/factories.js';
import { csv, imported, rowsOf } from '../support/app/imports.js';

/** The importer and the API follow the same rules: a value is refused with the same error wherever it comes from. */
let app: TestApp;
beforeAll(async () => void (app = await TestApp.start()));
afterAll(async () => app.end());

const long = (length: number) => 'x'.repeat(length);
const url = (length: number) => `https://example.org/${long(length - 20)}`;

const domain = Array.from({ length: 5 }, () => long(60)).join('.');
const logins = Array.from({ length: 21 }, (_, i) => `n${i}`);
const NAMES = { ForeName: 'firstname', Surname: 'surname', MiddleName: 'middle_name', KnownAs: 'known_as' };

/** [column, cell, field, value of the field in a body of `POST /users`, where it is not the cell] */
const BAD: [string, string, string, Json?][] = [
  ['ExternalId', long(256), 'external_id'],
  ['ExternalId', 'a\u0007b', 'external_id'],
  ['Username', long(255), 'username'],
  ['Username', 'a\tb', 'username'],
  ['Email', 'no address', 'email'],
  ['Email', 'user@intranet', 'email'],
  ['Email', `${long(65)}@example.org`, 'email'],
  ['Email', `a@${domain}.org`, 'email'],
  ...Object.entries(NAMES).flatMap(([column, field]): [string, string, string][] => [
    [column, long(256), field],
    [column, 'a\u0001b', field],
  ]),
  ['Phone', long(65), 'phone'],
  ['Mobile', '1\u001b2', 'mobile'],
  ['Status', 'active', 'status'],
  ['Status', 'Deleted', 'status'],
  ['Roles', 'Emperor', 'roles', ['Emperor']],
  ['Roles', 'Editor;editor', 'roles', ['Editor', 'editor']],
  ['Roles', 'External user|Organisational user', 'roles', ['External user', 'Organisational user']],
  ['Role', 'External user;Webmaster', 'roles', ['External user', 'Webmaster']],
  ['Authname', long(256), 'authname', { saml: [long(256)] }],
  ['Authname', 'a|a', 'authname', { saml: ['a', 'a'] }],
  ['saml', logins.join('|'), 'authname', { saml: logins }],
  ['Authname', 'a\u0002b', 'authname', { saml: ['a\u0002b'] }],
  ['HideEmail', 'maybe', 'hide_email'],
  ['HidePhone', '2', 'hide_phone_numbers'],
  ['Linkedin', 'linkedin.com/in/x', 'social_media', { linkedin: 'linkedin.com/in/x' }],
  ['Facebook', url(2049), 'social_media', { facebook: url(2049) }],
  ['Twitter', 'ftp://example.org', 'social_media', { twitter: 'ftp://example.org' }],
  ['ImageUrl', 'javascript:alert(1)', 'user_avatar'],
  ['ImageUrl', url(2049), 'user_avatar'],
  ['AboutMe', long(10_001), 'about_me'],
  ['AboutMe', 'a\u0008b', 'about_me'],
];
const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`;
const reported = (errors: Json[]): string[] =>
  errors.map(({ field, code, message }) => `${field} ${code} ${message}`).sort();

test.each(BAD)('%s: %j is refused as by POST /users', async (column, cell, field, value = cell) => {
  const body = aUser({ external_id: `r-${Math.random()}` });
  const cells: Record<string, string> = {
    ExternalId: body.external_id,
    Username: body.username,
    Email: body.email,
    [column]: cell,
  };
  const api = await app.key.post('/users', { ...body, [field]: value });
  expect(api.status).toBe(422);
  const run = await imported(
    app.key,
    csv(Object.keys(cells).join(','), Object.values(cells).map(quoted).join(',')),
  );
  const [row] = await rowsOf(app.key, run.id);
  expect(row.outcome).toBe('error');
  expect(reported(row.errors)).toEqual(reported(api.body.errors));
});

test('username and e-mail are required of a new user', async () => {
  const api = await app.key.post('/users', { external_id: 'new' });
  const run = await imported(app.key, csv('ExternalId,Surname', 'new,Lee'));
  const [row] = await rowsOf(app.key, run.id);
  expect(reported(row.errors)).toEqual(reported(api.body.errors));
});

test('the importer accepts what the API accepts, in the same form', async () => {
  const file = csv(
    'ExternalId,Username,Email,ForeName,Phone,Roles,Linkedin,AboutMe',
    ' ok , Jo   Doe ,JO@Example.org,  Jose\u0301 ,"  +44  20 ",editor; AUTHOR,https://l.example/x,"  two\r\nlines "',
  );
  const run = await imported(app.key, file);
  expect(run.problems).toEqual([]);
  const found = (await app.key.get('/users/search?external_id=ok')).body.Results[0];
  const created = await app.key.post('/users', {
    external_id: ' ok2 ',
    username: ' Jo   Doe2 ',
    email: 'JO2@Example.org',
    firstname: '  Jose\u0301 ',
    phone: '  +44  20 ',
    roles: ['editor', ' AUTHOR'],
    social_media: { linkedin: 'https://l.example/x' },
    about_me: '  two\r\nlines ',
  });
  const other = (await app.key.get(`/users/${created.body.uuid}`)).body;
  const form = ({ uuid: _, created: _c, updated: _u, external_id, username, email, ...rest }: Json) => ({
    ...rest,
    external_id: external_id.replace('2', ''),
    username: username.replace('2', ''),
    email: email.replace('2', ''),
  });
  expect(form(found)).toEqual(form(other));
});
