import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { aUser, create } from '../support/data/factories.js';
import { csv, imported, rowsOf } from '../support/app/imports.js';
import { databaseOf } from '../support/app/people.js';
import { refusal } from '../support/app/problems.js';

/** Text that looks like other text is refused in names and identifiers, alike from the API and from a file. */
let app: TestApp;
let user: Json;
beforeAll(async () => {
  app = await TestApp.start();
  user = await create(app.key);
});
afterAll(() => app.end());

/** Field → column, and the value that holds a text. */
const FIELDS: Record<
  string,
  { column: string; value: (text: string) => unknown; cell?: (text: string) => string }
> = {
  ...Object.fromEntries(
    [
      ['username', 'Username'],
      ['external_id', 'ExternalId'],
      ['phone', 'Phone'],
      ['mobile', 'Mobile'],
      ['firstname', 'ForeName'],
      ['middle_name', 'MiddleName'],
      ['surname', 'Surname'],
      ['known_as', 'KnownAs'],
    ].map(([field = '', column = '']) => [field, { column, value: (text: string) => text }]),
  ),
  email: { column: 'Email', value: (text) => `${text}@example.org`, cell: (text) => `${text}@example.org` },
  authname: { column: 'Authname', value: (text) => ({ saml: ['x', text] }), cell: (text) => `x|${text}` },
  user_avatar: {
    column: 'ImageUrl',
    value: (text) => `https://example.org/${text}`,
    cell: (text) => `https://example.org/${text}`,
  },
  social_media: {
    column: 'Twitter',
    value: (text) => ({ twitter: `https://example.org/${text}` }),
    cell: (text) => `https://example.org/${text}`,
  },
};
const UNSEEN = [
  'admin\u200b',
  'ad\u202emin',
  'a\u00addmin',
  'ad\u200dmin',
  'a\ufffeb',
  '\u3164',
  'a\u{e0041}b',
  'a\ufe0fb',
  'a\u070fb',
  '\u0600a',
  'a\u{13430}b',
  'a\u{1343f}b',
  'a\u{16fe4}b',
];

describe.each(Object.entries(FIELDS))('%s', (field, { column, value, cell = (text) => text }) => {
  test.each(UNSEEN)('%j is refused and the code point named, by the API and in a file', async (text) => {
    const character = /[^ -~]/u.exec(text)?.[0].codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
    const created = await app.key.post('/users', aUser({ [field]: value(text) }));
    const changed = await app.key.put(`/users/${user.uuid}`, { [field]: value(text) });
    for (const answer of [created, changed]) {
      expect(refusal(answer)).toEqual([422, `${field} invisible_character`]);
      expect(answer.body.errors[0].message).toContain(`U+${character}`);
    }
    const cells = { ExternalId: 'F1', Username: 'file-user', Email: 'file@example.org' };
    const row: Record<string, string> = { ...cells, [column]: cell(text) };
    const file = csv(Object.keys(row).join(','), Object.values(row).join(','));
    const run = await imported(app.key, file, 'dry_run=true');
    const [planned] = await rowsOf(app.key, run.id);
    const [error] = created.body.errors as Json[];
    expect(planned.errors).toEqual([
      expect.objectContaining({ field, code: 'invisible_character', message: error.message }),
    ]);
  });
});

test.each(['علی\u200cرضا', 'ශ්\u200dරී', 'രാജന്\u200d', 'José', '東京'])(
  'a name may be %s',
  async (firstname) => {
    const answer = await app.key.put(`/users/${user.uuid}`, { firstname });
    expect([answer.status, answer.body.firstname]).toEqual([200, firstname]);
  },
);

test('running text may hold what emoji and pasted text bring along, but nothing that changes its order', async () => {
  const about_me = '❤\ufe0f 👩\u200d👧 soft\u00adhyphen\nsecond line';
  expect((await app.key.put(`/users/${user.uuid}`, { about_me })).body.about_me).toBe(about_me);
  const turned = await app.key.put(`/users/${user.uuid}`, { about_me: 'to \u202egro.elpmaxe' });
  expect(refusal(turned)).toEqual([422, 'about_me invisible_character']);
});

test('the name of a key is read by people', async () => {
  const answer = await app.key.post('/api_keys', { name: 'HR\u200b' });
  expect(refusal(answer)).toEqual([422, 'name invisible_character']);
});

describe('what older versions have stored', () => {
  let old: Json;
  beforeAll(async () => {
    old = await create(app.key, { external_id: 'OLD', password: 'a good long password', phone: '1' });
    await databaseOf(app).execute('UPDATE users SET surname = ?, username = ?, authname = ? WHERE uuid = ?', [
      'Doe\u200b',
      'old\u200b',
      JSON.stringify({ saml: ['old\u200b'] }),
      old.uuid,
    ]);
  });
  const read = async (): Promise<Json> => (await app.key.get(`/users/${old.uuid}`)).body;

  test('is read, and sent back changes nothing', async () => {
    const before = await read();
    expect(before.surname).toBe('Doe\u200b');
    const answer = await app.key.put(`/users/${old.uuid}`, before);
    expect([answer.status, answer.body]).toEqual([200, before]);
  });

  test('does not keep other fields from being changed', async () => {
    const answer = await app.key.put(`/users/${old.uuid}`, { ...(await read()), phone: '2' });
    expect([answer.status, answer.body.phone, answer.body.surname]).toEqual([200, '2', 'Doe\u200b']);
  });

  test('is no excuse for another such value', async () => {
    const answer = await app.key.put(`/users/${old.uuid}`, { ...(await read()), surname: 'Doe\u200b\u200b' });
    expect(refusal(answer)).toEqual([422, 'surname invisible_character']);
  });

  test('rows of a file with it are unchanged, or change what they change', async () => {
    const file = (phone: string) => csv('ExternalId,Surname,Phone', `OLD,Doe\u200b,${phone}`);
    const { phone } = await read();
    const same = await imported(app.key, file(phone), 'dry_run=true');
    expect(same.counts).toMatchObject({ unchanged: 1, error: 0 });
    const changed = await imported(app.key, file('3'), '');
    expect([changed.state, changed.counts.updated]).toEqual(['completed', 1]);
    expect(await read()).toMatchObject({ phone: '3', surname: 'Doe\u200b' });
  });
});

describe('URLs', () => {
  const change = (body: object) => app.key.put(`/users/${user.uuid}`, body);

  test('are stored as they are parsed', async () => {
    const { status, body } = await change({
      user_avatar: ' HTTPS://Example.ORG:443/a b.png ',
      social_media: { twitter: 'http://bücher.example' },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      user_avatar: 'https://example.org/a%20b.png',
      social_media: { twitter: 'http://xn--bcher-kva.example/' },
    });
    const again = await change({
      user_avatar: 'https://EXAMPLE.org/a b.png',
      social_media: { twitter: 'HTTP://bücher.example:80' },
    });
    expect(again.body).toEqual(body);
  });

  test.each(['http:///a.png', 'http://jane:secret@example.org/', 'https://good.example\\@evil.example/'])(
    '%s is refused',
    async (url) => {
      expect(refusal(await change({ user_avatar: url }))).toEqual([422, 'user_avatar invalid_format']);
      expect(refusal(await change({ social_media: { twitter: url } }))).toEqual([
        422,
        'social_media invalid_format',
      ]);
    },
  );

  test('a cell in another form of the stored one changes nothing', async () => {
    const row = (url: string, phone = '') =>
      csv(
        'ExternalId,Username,Email,ImageUrl,Twitter,Phone',
        `U1,url,url@example.org,${url},${url},${phone}`,
      );
    expect((await imported(app.key, row('HTTP://Example.org'), '')).counts.created).toBe(1);
    for (const url of ['HTTP://Example.org', 'http://example.org/', 'http://EXAMPLE.org:80'])
      expect((await imported(app.key, row(url), '')).counts).toMatchObject({ unchanged: 1, updated: 0 });
    // A value of an older version keeps its form.
    await databaseOf(app).execute('UPDATE users SET user_avatar = ? WHERE external_id = ?', [
      'http://example.org',
      'U1',
    ]);
    const run = await imported(app.key, row('http://example.org', '5'), '');
    const [changed] = await rowsOf(app.key, run.id);
    expect(changed.changes.map(({ field }: Json) => field)).toEqual(['phone']);
  });
});

test('cells that a spreadsheet might run are disarmed, and the export imported again changes nothing', async () => {
  const names = ['＝1+1', '＋44', '－1', '＠sum', '=1', "'＝x", "'+1", '@x', '-1'];
  for (const [index, surname] of names.entries())
    await create(app.key, { surname, known_as: surname, external_id: `${surname}${index}`, phone: surname });
  const { text } = await app.key.get('/users/export.csv');
  expect(text).not.toMatch(/(^|[,\n"])[=+\-@\t\uff1d\uff0b\uff0d\uff20]/);
  const run = await imported(app.key, text, 'dry_run=true');
  const rows = text.trimEnd().split('\r\n').length - 1;
  expect(run.counts).toMatchObject({ unchanged: rows, updated: 0, created: 0, error: 0 });
});
