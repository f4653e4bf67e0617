import { describe, expect, test } from '@jest/globals';
import { API_KEY, setUpApp } from '../support/app/app.js';
import type { Answer, Json } from '../support/app/client.js';
import { csv, runImport } from '../support/app/imports.js';
import { databaseOf } from '../support/app/people.js';
import { HEAD, fileOf, people } from '../support/data/user-file.js';
import { readSample } from '../support/app/profiles.js';

/** Previews, which show the effects of a file without a run. */
const app = setUpApp();

const sendPreview = (file: string | Uint8Array, query = ''): Promise<Answer> =>
  app.key.send('POST', `/imports/preview${query && `?${query}`}`, file, { 'content-type': 'text/csv' });
const preview = async (file: string | Uint8Array, query = ''): Promise<Json> => {
  const answer = await sendPreview(file, query);
  if (answer.status !== 200) throw new Error(`preview: ${answer.status} ${answer.text}`);
  return answer.body;
};
const columnsOf = ({ columns }: Json) =>
  (columns as Json[]).map(({ source, column, use, suggestion }) => [source, column ?? use, suggestion]);
const problemsOf = ({ problems }: Json) =>
  (problems as Json[]).map(({ line, field, code, refuses }) => [
    line,
    field,
    code,
    ...(refuses ? ['file'] : []),
  ]);

test('an import preview shows the encoding, delimiter and mapped rows', async () => {
  const file = Buffer.from(
    '\ufeffExternalId;Username;Email;Status;Roles;HideEmail;Manager\r\np1;p1;p1@example.org;;Editor|Author;yes;p9\r\n',
    'utf16le',
  );
  const answer = await preview(file);
  expect(answer).toMatchObject({
    file: { name: 'upload.csv', size: file.length },
    profile: null,
    encoding: 'utf-16le',
    delimiter: ';',
    problems: [],
  });
  expect(answer.rows).toEqual([
    {
      line: 2,
      outcome: 'created',
      fields: {
        external_id: 'p1',
        username: 'p1',
        email: 'p1@example.org',
        roles: ['Editor', 'Author'],
        hide_email: true,
        manager: 'p9',
      },
    },
  ]);
});

test('an import preview compares rows with users and stores nothing', async () => {
  await runImport(app.key, fileOf('live'));
  const tables = ['import_runs', 'import_rows', 'import_file_parts', 'audit_events', 'idempotent_requests'];
  const countRows = () =>
    Promise.all(tables.map((name) => databaseOf(app).queryOne(`SELECT COUNT(*) AS count FROM ${name}`)));
  const before = await countRows();
  const file = csv('ExternalId,Phone', 'live,+44 1', 'strange,+44 2');
  const answer = await app.key.send('POST', '/imports/preview', file, {
    'content-type': 'text/csv',
    'idempotency-key': 'preview-1',
  });
  expect(answer.body.rows.map(({ outcome }: Json) => outcome)).toEqual(['updated', 'error']);
  expect(problemsOf(answer.body)).toEqual([
    [3, 'username', 'required'],
    [3, 'email', 'required'],
  ]);
  expect(await countRows()).toEqual(before);
});

test('an import preview lists problems of the header and rows', async () => {
  const file = csv(
    'Userneme,Email,Shoe size,E_mail,Password',
    'a,a@example.org,43,x@example.org,secret-1',
    'b,wrong,44,,secret-2',
    'a,A@example.org,45,,',
  );
  const answer = await preview(file);
  expect(problemsOf(answer)).toEqual(
    expect.arrayContaining([
      [
        1,
        '',
        expect.stringMatching(/^(password_column|unknown_column|duplicate_column|missing_column)$/),
        'file',
      ],
      [2, 'external_id', 'required'],
      [3, 'external_id', 'required'],
      [4, 'email', 'duplicate'],
    ]),
  );
  expect(columnsOf(answer)).toEqual([
    ['Userneme', 'unknown', 'Username'],
    ['Email', 'Email', null],
    ['Shoe size', 'unknown', null],
    ['E_mail', 'unknown', null],
    ['Password', 'unknown', 'ignore'],
  ]);
  expect(JSON.stringify(answer)).not.toContain('secret-');
});

describe('an import preview', () => {
  test.each([
    ['SIS User ID', ['x-1', 'x-2'], 'ExternalId'],
    ['E-Mail Address', ['', ''], 'Email'],
    ['First Name [Required]', ['Ann', 'Bob'], 'ForeName'],
    ['Nachname', ['', ''], 'Surname'],
    ['Famly Name', ['', ''], 'Surname'],
    ['Mobile Phone Number (E.164)', ['+44 7700 900111', '+44 7700 900222'], 'Phone'],
    ['Column 7', ['ann@example.org', 'bob@example.org'], 'Email'],
    ['Column 8', ['+44 20 7946 0001', '020 7946 0002'], 'Phone'],
    ['Column 9', ['ACTIVE', 'DEPROVISIONED'], 'Status'],
    ['Column 10', ['43', '44'], 'nothing'],
    ['Initial passwd', ['x', 'y'], 'ignore'],
  ])('suggests for column %j with values %j: %s', async (name, [first, second], expected) => {
    const answer = await preview(csv(`"${name}",Twitter`, `${first ?? ''},`, `${second ?? ''},`));
    expect(columnsOf(answer)[0]).toEqual([name, 'unknown', expected === 'nothing' ? null : expected]);
  });

  test('suggests each column only once', async () => {
    const answer = await preview(csv('ExternalId,Mail,Work email,employee id', 'a,b,c,d'));
    expect(columnsOf(answer)).toEqual([
      ['ExternalId', 'ExternalId', null],
      ['Mail', 'unknown', 'Email'],
      ['Work email', 'unknown', null],
      ['employee id', 'unknown', null],
    ]);
  });
});

test('an import preview with a profile shows the mapped columns', async () => {
  const answer = await preview(readSample('entra'), 'profile=entra');
  expect([answer.profile, problemsOf(answer)]).toEqual(['entra', []]);
  const columns = new Map(columnsOf(answer).map(([source, use]) => [source, use]));
  expect(Object.fromEntries(columns)).toMatchObject({
    surname: 'Surname',
    mail: 'template',
    usageLocation: 'unknown',
  });
  expect(answer.rows[1]).toMatchObject({
    line: 3,
    outcome: 'created',
    fields: { username: 'scanner@tenant.example.org', email: 'scanner@tenant.example.org', status: 'Active' },
  });
});

test('an import preview shows at most 100 rows', async () => {
  expect((await preview(csv(HEAD, ...people('r', 150)))).rows).toHaveLength(100);
  const long = `ExternalId,AboutMe\r\n${Array.from({ length: 90 }, (_, at) => `w${at},"${'x'.repeat(20_000)}"\r\n`).join('')}`;
  const answer = await preview(long);
  expect(answer.rows.length).toBeGreaterThan(40);
  expect(answer.rows.length).toBeLessThan(60);
  expect(answer.problems.every(({ refuses }: Json) => !refuses)).toBe(true);
});

test.each([
  ['an empty file', 'empty_file', ''],
  ['a header without rows', 'empty_file', 'ExternalId\r\n'],
  ['an unclosed quote', 'unclosed_quote', 'ExternalId,Username\r\na,"b\r\n'],
  ['a row of 1.1 million characters', 'row_too_long', 'x'.repeat(1_100_000)],
  ['a ZIP archive', 'bad_encoding', Buffer.from([0x50, 0x4b, 0x03, 0x04, 0, 0])],
])('an import preview of %s reports %s', async (_, code, file) => {
  expect((await preview(file)).problems).toContainEqual(expect.objectContaining({ code, refuses: true }));
});

test('an import preview accepts a form with options after the file', async () => {
  const form = new FormData();
  form.append('file', new Blob([csv('Nr;Mail', '1;a@example.org')]), 'people.csv');
  form.append('delimiter', ';');
  const sent = await fetch(`${app.url}/api/0.3/imports/preview`, {
    method: 'POST',
    body: form,
    headers: { 'x-api-key': API_KEY },
  });
  const body = (await sent.json()) as Json;
  expect({ status: sent.status, name: body.file.name, delimiter: body.delimiter }).toEqual({
    status: 200,
    name: 'people.csv',
    delimiter: ';',
  });
  expect((await sendPreview('x', 'profile=mooodle')).body.detail).toBe(
    'profile: there is no import profile mooodle. Did you mean moodle?',
  );
  expect((await sendPreview('x', 'nonsense=1')).status).toBe(400);
});
