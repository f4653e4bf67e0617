import { describe, expect, test } from '@jest/globals';
import { API_KEY, setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { csv, runImport, sendPreview } from '../support/app/imports.js';
import { databaseOf } from '../support/app/people.js';
import { fileOf } from '../support/data/user-file.js';
import { readSample } from '../support/app/profiles.js';

/** Previews, which show the effects of a file without a run. */
const app = setUpApp();

const preview = async (file: string | Uint8Array, query = ''): Promise<Json> => {
  const answer = await sendPreview(app.key, file, query);
  if (answer.status !== 200) throw new Error(`preview: ${answer.status} ${answer.text}`);
  return answer.body;
};
const columnsOf = ({ columns }: Json) =>
  columns.map(({ source, column, use, suggestion }: Json) => `${source}: ${column ?? use}, ${suggestion}`);
const problemsOf = ({ problems }: Json): string[] =>
  problems.map(
    ({ line, field, code, refuses }: Json) => `${line} ${field} ${code}${refuses ? ', refuses' : ''}`,
  );

test('an import preview shows the encoding, delimiter and mapped rows', async () => {
  const file = Buffer.from(
    '\ufeffExternalId;Username;Email;Status;Roles;HideEmail;Manager\r\np1;p1;p1@example.org;;Editor|Author;yes;p9\r\n',
    'utf16le',
  );
  const answer = await preview(file);
  const read = { profile: null, encoding: 'utf-16le', delimiter: ';', problems: [] };
  expect(answer).toMatchObject({ file: { name: 'upload.csv', size: file.length }, ...read });
  const user = { external_id: 'p1', username: 'p1', email: 'p1@example.org' };
  const fields = { ...user, roles: ['Editor', 'Author'], hide_email: true, manager: 'p9' };
  expect(answer.rows).toEqual([{ line: 2, outcome: 'created', fields }]);
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
  expect(problemsOf(answer.body)).toEqual(['3 username required', '3 email required']);
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
  const ofRows = ['2 external_id required', '3 external_id required', '4 email duplicate'];
  const ofHeader = /^1 {2}(password_column|unknown_column|duplicate_column|missing_column), refuses$/;
  const expected = [expect.stringMatching(ofHeader), ...ofRows];
  expect(problemsOf(answer)).toEqual(expect.arrayContaining(expected));
  expect(columnsOf(answer)).toEqual([
    'Userneme: unknown, Username',
    'Email: Email, null',
    'Shoe size: unknown, null',
    'E_mail: unknown, null',
    'Password: unknown, ignore',
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
    ['Column 10', ['Aktiv', 'Ausgetreten'], 'Status'],
    ['Column 11', ['43', '44'], 'null'],
    ['Initial passwd', ['x', 'y'], 'ignore'],
    ['Parent email', ['ann@example.org', 'bob@example.org'], 'ignore'],
    ['E-Mail (privat)', ['ann@example.org', 'bob@example.org'], 'ignore'],
    ['Home phone', ['+44 20 7946 0001', '020 7946 0002'], 'ignore'],
    ['EmployeePersonalEmail', ['ann@example.org', 'bob@example.org'], 'ignore'],
    ['studentparentemail', ['ann@example.org', 'bob@example.org'], 'ignore'],
    ['HOMEPHONE', ['+44 20 7946 0001', '020 7946 0002'], 'ignore'],
    ['contact_home_number', ['+44 20 7946 0001', '020 7946 0002'], 'ignore'],
    ['Personal-Nr.', ['71', '72'], 'ExternalId'],
    ['Privatschule', ['yes', 'no'], 'null'],
  ])('suggests for column %j with values %j: %s', async (name, [first, second], expected) => {
    const answer = await preview(csv(`"${name}",Twitter`, `${first ?? ''},`, `${second ?? ''},`));
    expect(columnsOf(answer)[0]).toBe(`${name}: unknown, ${expected}`);
  });

  test('suggests each column only once', async () => {
    const answer = await preview(csv('ExternalId,Mail,Work email,employee id', 'a,b,c,d'));
    const others = ['Work email: unknown, null', 'employee id: unknown, null'];
    expect(columnsOf(answer)).toEqual(['ExternalId: ExternalId, null', 'Mail: unknown, Email', ...others]);
  });

  test('suggests Status for the column with words of a status', async () => {
    const answer = await preview(csv('ExternalId,State,Employment status', 'a,MA,Active', 'b,NY,On leave'));
    const others = ['State: unknown, null', 'Employment status: unknown, Status'];
    expect(columnsOf(answer)).toEqual(['ExternalId: ExternalId, null', ...others]);
  });

  test.each([
    ['unique', '1 2 3', 'Days'],
    ['repeated', '1 2 2', undefined],
  ])('suggests a column with %s values as the key of managers: %s', async (_, days, key) => {
    const [a, b, c] = days.split(' ');
    const { suggested } = await preview(csv('ExternalId,Manager,Days', `a,2,${a}`, `b,1,${b}`, `c,1,${c}`));
    expect(suggested.manager_key).toBe(key);
  });
});

test.each([
  ['an id of the usual length', '10101', 'Manager'],
  ['a short number', '7', 'ignore'],
])('an unlisted manager with %s (%s) is suggested as %s', async (_, manager, expected) => {
  const { suggested } = await preview(csv('Employee ID,ManagerID', `10026,${manager}`, '10084,'));
  expect(suggested.columns.ManagerID).toBe(expected);
});

test('an import preview with a profile shows the mapped columns', async () => {
  const answer = await preview(readSample('entra'), 'profile=entra');
  expect([answer.profile, problemsOf(answer)]).toEqual(['entra', []]);
  const columns = ['surname: Surname, null', 'mail: template, null', 'usageLocation: unknown, null'];
  expect(columnsOf(answer)).toEqual(expect.arrayContaining(columns));
  const address = 'scanner@tenant.example.org';
  const fields = { username: address, email: address, status: 'Active' };
  expect(answer.rows[1]).toMatchObject({ line: 3, outcome: 'created', fields });
});

test('an import preview shows at most 100 rows, but counts the words of all rows in the first MiB', async () => {
  const states = Array.from({ length: 150 }, (_, n) => `r${n},${n < 149 ? 'Active' : 'Extern'}`);
  const { rows, words } = await preview(csv('ExternalId,Status', ...states));
  expect([rows.length, words[0].words.map((each: Json) => `${each.word} ${each.rows}`)]).toEqual([
    100,
    ['Active 149', 'Extern 1'],
  ]);
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

type Parts = Record<string, string | Blob>;
const sendForm = async (parts: Parts, path = '/imports/preview', name = 'people.csv') => {
  const form = new FormData();
  for (const [part, value] of Object.entries(parts))
    if (typeof value === 'string') form.append(part, value);
    else form.append(part, value, name);
  const headers = { 'x-api-key': API_KEY };
  const sent = await fetch(`${app.url}/api/0.3${path}`, { method: 'POST', body: form, headers });
  return { status: sent.status, body: (await sent.json()) as Json };
};

test('an import preview accepts a form with options after the file', async () => {
  const file = new Blob([csv('Nr;Mail', '1;a@example.org')]);
  const { status, body } = await sendForm({ file, delimiter: ';' });
  expect([status, body.file.name, body.delimiter]).toEqual([200, 'people.csv', ';']);
  const { detail } = (await sendPreview(app.key, 'x', 'profile=mooodle')).body;
  expect(detail).toBe('profile: there is no import profile mooodle. Did you mean moodle?');
  expect((await sendPreview(app.key, 'x', 'nonsense=1')).status).toBe(400);
});

test('only an import preview accepts an unsaved profile, as a text or a file', async () => {
  const file = new Blob([csv('Nr;Mail', '1;a@example.org', '2;')]);
  const set = { Username: '{Nr}', Email: '{Mail} || {Nr}@pupils.example' };
  const profile = JSON.stringify({ columns: { Nr: 'ExternalId' }, set });
  const mails = ['a@example.org', '2@pupils.example'];
  const rows = mails.map((email, n) => ({ fields: { username: String(n + 1), email } }));
  for (const part of [profile, new Blob([profile], { type: 'application/json' })])
    expect(await sendForm({ profile: part, file }, '/imports/preview?profile=hr')).toMatchObject({
      status: 200,
      body: { profile: 'hr', rows, problems: [] },
    });
  const wrong = await sendForm({ profile: '{"columns": {"Nr": "Emial"}}', file });
  const errors = [{ field: 'columns.Nr' }, { field: 'columns' }];
  expect(wrong).toMatchObject({ status: 422, body: { errors } });
  for (const [parts, path] of [
    [{ profile: '{', file }, '/imports/preview'],
    [{ profile: 'x'.repeat(300_000), file }, '/imports/preview'],
    [{ profile, file }, '/imports'],
    [{ profile: new Blob([profile]), file }, '/imports'],
  ] as const)
    expect((await sendForm(parts, path)).status).toBe(400);
});

const previewNamed = async (name: string, file: Blob, profile?: Json): Promise<Json> => {
  const unsaved = profile && { profile: JSON.stringify(profile) };
  const { status, body } = await sendForm({ ...unsaved, file }, undefined, name);
  expect(status).toBe(200);
  return body;
};
/** Encodes a text, also in an encoding that Node.js only decodes. */
function encodeAs(text: string, encoding: string): Buffer<ArrayBuffer> {
  if (encoding.startsWith('utf'))
    return Buffer.from(text, encoding.replace('utf-16', 'utf16') as BufferEncoding);
  const decoder = new TextDecoder(encoding);
  const known = new Map(Array.from({ length: 256 }, (_, byte) => [decoder.decode(Buffer.of(byte)), byte]));
  return Buffer.from(Array.from(text, (character) => known.get(character) ?? 0x3f));
}

test.each([
  ['Vorname;Nachname;E-Mail;Personalnummer;Manager', 'Jörg;Müller;jm@example.org;71;', 'jorg.muller', '71'],
  ['Schüler-ID,Name,Vorname,Klasse,Dienst-E-Mail', 'S7,Groß,Zoë,7b,zg@example.org', 'zoe.gross', 'S7'],
  ['sAMAccountName,mail,Enabled', 'jmueller,jm@example.org,True', 'jmueller', 'jmueller'],
  ['ID; {Mail}|x:y ', '1;jm@example.org', 'jm', '1'],
  [`${'x'.repeat(700)},ID,Mail`, ',1,jm@example.org', 'jm', '1'],
  ['Name,Login', '"Müller, Jörg",jm@example.org', 'jm@example.org', 'jm@example.org'],
  ['Schüler-ID,Nachname,Rufname,E-Mail', 'S7,Groß,Zoë,zg@example.org', 'zoe.gross', 'S7'],
  ['Code;Name, Vorname;Mailadresse;Ort', 'K7;Groß, Zoë;zg@example.org;Köln', 'zoe.gross', 'zg@example.org'],
  ['Mitgliedsnummer;Name, Vorname;E-Mail', '0001;Groß, Zoë;zg@example.org', 'zoe.gross', '0001'],
  ['Vorname, Name;E-Mail', 'Zoë, Groß;zg@example.org', 'zoe.gross', 'zg@example.org'],
  ['Personalnummer;Mitarbeiter;Mail', 'K7;Zoë Groß;zg@example.org', 'zoe.gross', 'K7'],
  ['Personalnummer;Nachname Vorname;Mail', 'K7;Groß Zoë;zg@example.org', 'zoe.gross', 'K7'],
])('the suggested profile of %j builds usernames and external ids', async (header, row, username, id) => {
  const file = `${header}\n${row}\n`;
  const { suggested } = await preview(file);
  const { rows, problems } = await previewNamed('export.csv', new Blob([file]), suggested);
  expect([problems, rows[0].fields]).toEqual([[], expect.objectContaining({ username, external_id: id })]);
});

test.each([
  ['windows-1252', 'Jörg;Müller – Größe'],
  ['windows-1250', 'Łukasz;Żółć'],
  ['windows-1251', 'Иван;Петров'],
  ['macintosh', 'Jörg;Müller'],
  ['utf-16le', 'Jörg;Müller'],
])('an import preview offers the encoding %s first', async (encoding, names) => {
  const bytes = encodeAs(`Vorname;Nachname\r\n${names}\r\n`, encoding);
  const { encodings, problems, columns } = await preview(bytes);
  expect(encodings[0]).toEqual({ encoding, cells: names.split(';').filter((cell) => /[^ -~]/.test(cell)) });
  expect(problems).toContainEqual(expect.objectContaining({ code: 'bad_encoding', refuses: true }));
  const samples = [names.split(';')[0]];
  expect(columns[0]).toMatchObject({ source: 'Vorname', suggestion: 'ForeName', samples });
});

test.each([
  ['a title', 'Personalliste\n', '', 1, null],
  ['a title, two notes and a date', 'Liste\n\nStand, heute\n"Nur; intern"\n27.11.2026\n', '', 5, null],
  ['a merged header', 'Person;;;;\n', '', 1, null],
  ['blank lines', '\n\n', '\n\n', null, null],
  ['a separator line', 'sep=;\n', '', null, null],
  ['a total', '', 'Summe;;;;2\n', null, 1],
  ['a total with a second count', '', '\nSumme;2;4;davon aktiv:;2\nHinweis: intern\n', null, 2],
  ['a note after a blank line', '', '\nErstellt; am\n\n', null, 2],
  ['a row that was cut short', '', 'p3;c@ex', null, null],
])('an import preview suggests the lines to skip with %s', async (_, before, after, first, last) => {
  const rows = 'p1;a@example.org;Ann;Ray;Active\np2;b@example.org;Bob;"two\nlines of text";Active\n';
  const answer = await preview(`${before}Nr;Mail;Vorname;Nachname;Status\n${rows}${after}`);
  expect([answer.skip_lines, answer.skip_last_lines]).toEqual([first, last]);
  expect(answer.columns[1].source).toBe('Mail');
  expect(answer.rows).toHaveLength(2);
});

test.each([
  ['Gesperrt', 'Ja nein nein vielleicht', 'nein,2,Active,Active Ja,1,Blocked,Blocked vielleicht,1,,'],
  [
    'Employment Status',
    'Voluntarily~Terminated Not~blocked No~longer~active',
    'Voluntarily Terminated,1,Blocked,Blocked Not blocked,1,, No longer active,1,,',
  ],
  // In Active Directory, the bit 2 of this number means that the account is disabled.
  ['userAccountControl', '66050 512 512 ?', '512,2,Active,Active 66050,1,Blocked,Blocked ?,1,,'],
])('an import preview counts the words of the status %s and of roles', async (name, cells, expected) => {
  const roles = ['Editor', 'Editor|Klasse 7b', '', ''];
  const rows = cells.split(' ').map((word, n) => `${n},${word.replaceAll('~', ' ')},${roles[n] ?? ''}`);
  const { words } = await preview(csv(`ExternalId,${name},Roles`, ...rows));
  const listed = words.map((each: Json) =>
    each.words.map((word: Json) => Object.values(word).join()).join(' '),
  );
  expect(listed).toEqual([expected, 'Editor,2,Editor,Editor Klasse 7b,1,,']);
});

test('an offered encoding shows cells that other encodings read differently', async () => {
  const { encodings } = await preview(encodeAs('Vorname\r\nJörg\r\nZoë\r\nRémy\r\nRenè\r\n', 'windows-1252'));
  expect(encodings.slice(0, 2).map((each: Json) => [each.encoding, each.cells[0]])).toEqual([
    ['windows-1252', 'Renè'],
    ['windows-1250', 'Renč'],
  ]);
});

test('the suggested profile of a file with repeated and blank values keeps the suggestions for its columns', async () => {
  const mails = [0, 1, 2, 3, 4, 5, 6, 0].map((n) => `p${n}@example.org`);
  const rows = ['', ...mails].map((mail, n) => `${n + 1};Groß;Zoë;${mail}`);
  const file = `Mitglieder\n\nNr.;Nachname;Vorname;Mailadresse\n${rows.join('\n')}\n`;
  const { suggested, templates } = await previewNamed('Liste_SJ2026-27.csv', new Blob([file]));
  expect(suggested).toMatchObject({
    pattern: 'Liste_SJ*.csv',
    columns: { Nachname: 'Surname', Vorname: 'ForeName', Mailadresse: 'Email' },
    set: { ExternalId: '{Mailadresse:lower}' },
  });
  // The function unique numbers repeated usernames.
  expect(templates.map(({ duplicates }: Json) => duplicates)).toEqual([1, 0, 0, 0]);
});

test('usernames without blanks and apostrophes are offered first', async () => {
  const names = ['Ines;von der Heide', "Petra;O'Brien", 'Jörg;Groß', 'Anna;Weber'];
  const rows = names.map((name, n) => `N${n};${name};p.${n}@example.org`);
  const file = new Blob([csv('Nr;Vorname;Nachname;E-Mail', ...rows)]);
  const { templates } = await previewNamed('heide.csv', file);
  const usernames = templates.filter(({ column }: Json) => column === 'Username');
  expect(usernames.map(({ values }: Json) => values[0])).toEqual(['p.0', 'p.0', 'ines.von der heide']);
});

test('the suggested username of a row without an e-mail address is its external id', async () => {
  const rows = Array.from({ length: 6 }, (_, n) => `N${n};Ann;de Ray;${n ? `p.${n}@example.org` : ''}`);
  const { suggested } = await preview(csv('Personalnummer;Vorname;Nachname;E-Mail', ...rows));
  const { Username } = suggested.set;
  expect(Username).toBe('{E-Mail:before:@:lower} || {Personalnummer:lower:unique}');
});

test('with a profile, a status word has a meaning only if the profile translates it or it is a status value', async () => {
  const file = new Blob([csv('Nr;Mail;State', 'a;a@example.org;Aktiv', 'b;b@example.org;blocked')]);
  const columns = { Nr: 'ExternalId', Mail: 'Email', State: 'Status' };
  const meaningsOf = async (profile: Json) =>
    (await previewNamed('words.csv', file, profile)).words[0].words.map(({ meaning }: Json) => meaning);
  expect(await meaningsOf({ columns })).toEqual([null, 'Blocked']);
  expect(await meaningsOf({ columns, values: { State: { aktiv: 'Active' } } })).toEqual([
    'Active',
    'Blocked',
  ]);
});

test('the suggested profile of each generated export reads every row without problems', async () => {
  const headers = [
    ['Personalnummer', 'Vorname', 'Nachname', 'E-Mail', 'Aktiv', 'aktiv', 'ausgetreten'],
    ['Employee ID', 'First Name', 'Last Name', 'Work Email', 'Employment Status', 'employed', 'terminated'],
    ['Matricule', 'Prénom', 'Nom', 'Courriel', 'Actif', 'oui', 'non'],
    ['ID alumno', 'Nombre', 'Apellidos', 'Correo electrónico', 'Estado', 'Activo', 'baja'],
    ['Id', 'Name', 'Login', 'Mail', 'Suspended', '0', '1'],
  ];
  const around = [
    ['', ''],
    ['Liste der Personen\n\n', ''],
    ['Export\nvom 27.11.2026\n', '\nTotal: 12 Personen\n'],
  ];
  const formats = [',', ';', '\t', '|'].flatMap((delimiter) =>
    ['utf-8', 'windows-1252', 'utf-16le'].map((encoding) => ({ delimiter, encoding })),
  );
  const shapes = formats.flatMap((format) =>
    around.map(([before = '', after = '']) => ({ ...format, before, after })),
  );
  for (const [names, shape] of headers.flatMap((each) => shapes.map((shape) => [each, shape] as const))) {
    const [active = '', blocked = ''] = names.slice(-2);
    const rows = Array.from({ length: 12 }, (_, n) => {
      const letters = String.fromCharCode(97 + n).repeat(2);
      return [`N${n}`, `Jörg${letters}`, `Müller${letters}`, `p${n}@example.org`, n % 3 ? active : blocked];
    });
    const table = [names.slice(0, 5), ...rows].map((cells) => cells.join(shape.delimiter)).join('\n');
    const file = new Blob([encodeAs(`${shape.before}${table}\n${shape.after}`, shape.encoding)]);
    const { suggested } = await previewNamed('liste_2026-11-27.csv', file);
    const again = await previewNamed('liste_2026-11-27.csv', file, suggested);
    const found = [again.problems, again.rows.length, again.rows[0]?.fields.status];
    expect({ names, shape, found }).toEqual({ names, shape, found: [[], 12, 'Blocked'] });
    expect(suggested).toMatchObject({ dataset: 'liste', pattern: 'liste_*.csv' });
  }
});
