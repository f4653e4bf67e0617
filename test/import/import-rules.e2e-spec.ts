import { expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { aUser } from '../support/data/factories.js';
import { csv, runImport, rowsOf } from '../support/app/imports.js';

/** The importer refuses a value with the same error as the API. */
const app = setUpApp();

const long = (length: number) => 'x'.repeat(length);
const url = (length: number) => `https://example.org/${long(length - 20)}`;

const domain = Array.from({ length: 5 }, () => long(60)).join('.');
const logins = Array.from({ length: 21 }, (_, i) => `n${i}`);
const NAMES = { ForeName: 'firstname', Surname: 'surname', MiddleName: 'middle_name', KnownAs: 'known_as' };
const EXCLUSIVE = ['External user', 'Organisational user'];

/** Invalid cells: column, description, cell, field, and the value for `POST /users` if it differs from the cell. */
const BAD: [string, string, string, string, Json?][] = [
  ['ExternalId', '256 characters', long(256), 'external_id'],
  ['ExternalId', 'a control character', 'a\u0007b', 'external_id'],
  ['Username', '255 characters', long(255), 'username'],
  ['Username', 'a tab', 'a\tb', 'username'],
  ['Email', 'no @', 'no address', 'email'],
  ['Email', 'a domain without a dot', 'user@intranet', 'email'],
  ['Email', 'a local part of 65 characters', `${long(65)}@example.org`, 'email'],
  ['Email', 'a domain of 308 characters', `a@${domain}.org`, 'email'],
  ...Object.entries(NAMES).flatMap(([column, field]): [string, string, string, string][] => [
    [column, '256 characters', long(256), field],
    [column, 'a control character', 'a\u0001b', field],
  ]),
  ['Phone', '65 characters', long(65), 'phone'],
  ['Mobile', 'a control character', '1\u001b2', 'mobile'],
  ['Status', 'an unknown status', 'Deleted', 'status'],
  ['Roles', 'an unknown role', 'Emperor', 'roles', ['Emperor']],
  ['Roles', 'roles separated by a comma', 'Editor,Author', 'roles', ['Editor,Author']],
  ['Roles', 'a repeated role', 'Editor;editor', 'roles', ['Editor', 'editor']],
  ['Roles', 'two exclusive roles', EXCLUSIVE.join('|'), 'roles', EXCLUSIVE],
  ['Role', 'an external Webmaster', 'External user;Webmaster', 'roles', ['External user', 'Webmaster']],
  ['Authname', '256 characters', long(256), 'authname', { saml: [long(256)] }],
  ['Authname', 'a repeated login', 'a|a', 'authname', { saml: ['a', 'a'] }],
  ['saml', '21 logins', logins.join('|'), 'authname', { saml: logins }],
  ['Authname', 'a control character', 'a\u0002b', 'authname', { saml: ['a\u0002b'] }],
  ['HideEmail', 'an unknown word', 'maybe', 'hide_email'],
  ['HidePhone', 'an invalid number', '2', 'hide_phone_numbers'],
  ['Linkedin', 'no scheme', 'linkedin.com/in/x', 'social_media', { linkedin: 'linkedin.com/in/x' }],
  ['Facebook', 'an address of 2049 characters', url(2049), 'social_media', { facebook: url(2049) }],
  ['Twitter', 'an FTP address', 'ftp://example.org', 'social_media', { twitter: 'ftp://example.org' }],
  ['ImageUrl', 'a script address', 'javascript:alert(1)', 'user_avatar'],
  ['ImageUrl', 'an address of 2049 characters', url(2049), 'user_avatar'],
  ['AboutMe', '10,001 characters', long(10_001), 'about_me'],
  ['AboutMe', 'a control character', 'a\u0008b', 'about_me'],
];
const quote = (cell: string) => `"${cell.replaceAll('"', '""')}"`;
const formatErrors = (errors: Json[]): string[] =>
  errors
    .map(({ field, code, message }) => `${field} ${code} ${message.replace(/; correct the cell.*/, '')}`)
    .sort();

test.each(BAD)('imports and POST /users refuse %s with %s', async (column, _, cell, field, value = cell) => {
  const body = aUser({ external_id: `r-${Math.random()}` });
  const cells: Record<string, string> = {
    ExternalId: body.external_id,
    Username: body.username,
    Email: body.email,
    [column]: cell,
  };
  const api = await app.key.post('/users', { ...body, [field]: value });
  expect(api.status).toBe(422);
  const run = await runImport(
    app.key,
    csv(Object.keys(cells).join(','), Object.values(cells).map(quote).join(',')),
  );
  const [row] = await rowsOf(app.key, run.id);
  expect(row.outcome).toBe('error');
  expect(formatErrors(row.errors)).toEqual(formatErrors(api.body.errors));
});

test('an import reports the same missing fields as POST /users', async () => {
  const api = await app.key.post('/users', { external_id: 'new' });
  const [row] = await rowsOf(app.key, (await runImport(app.key, csv('ExternalId,Surname', 'new,Lee'))).id);
  expect(formatErrors(row.errors)).toEqual(formatErrors(api.body.errors));
});

test('an import normalizes values like POST /users', async () => {
  const file = csv(
    'ExternalId,Username,Email,ForeName,Phone,Roles,Linkedin,AboutMe',
    ' ok , Jo   Doe ,JO@Example.org,  Jose\u0301 ,"  +44  20 ",editor; AUTHOR,https://l.example/x,"  two\r\nlines "',
  );
  expect((await runImport(app.key, file)).problems).toEqual([]);
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
  const normalize = ({ uuid: _, created: _c, updated: _u, external_id, username, email, ...rest }: Json) => ({
    ...rest,
    managed_by: '',
    external_id: external_id.replace('2', ''),
    username: username.replace('2', ''),
    email: email.replace('2', ''),
  });
  expect(normalize(found)).toEqual(normalize(other));
});
