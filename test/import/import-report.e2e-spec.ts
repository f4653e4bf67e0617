import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { PurgeService } from '../../src/setup/purge.service.js';
import { TestApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { counted, csv, imported, linked, rowsOf, upload } from '../support/app/imports.js';
import { databaseOf, inSeconds } from '../support/app/people.js';

/** What an operator can read about an import, and the files that the service writes. */
let app: TestApp;
beforeAll(async () => void (app = await TestApp.start()));
afterAll(async () => app.end());

const failedCsv = async (id: string) => (await app.key.get(`/imports/${id}/failed.csv`)).text;

test('failed.csv, corrected and sent again, imports the rest', async () => {
  const file = Buffer.from(
    '\ufeffExternalId;Username;Email;Phone;Shoe size\r\nr1;r1;r1@example.org;+44 1;43\r\nr2;r2;wrong;"+44; 2";44\r\nr3;;r3@example.org;;"4""5"\r\n',
    'utf16le',
  );
  const run = await imported(app.key, file, 'ignore_unknown_columns=true');
  const answer = await app.key.get(`/imports/${run.id}/failed.csv`);
  expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8');
  expect(answer.headers['content-disposition']).toBe(`attachment; filename="failed-${run.id}.csv"`);
  expect(answer.text).toBe(
    '\ufeffExternalId,Username,Email,Phone,Shoe size,_line,_code,_message\r\n' +
      "r2,r2,wrong,'+44; 2,44,3,invalid_format,email must be an e-mail address\r\n" +
      'r3,,r3@example.org,,"4""5",4,required,username is required\r\n',
  );
  const again = await imported(app.key, answer.text, 'ignore_unknown_columns=true');
  expect(await failedCsv(again.id)).toBe(answer.text.replace(',3,inv', ',2,inv').replace(',4,req', ',3,req'));
  const corrected = answer.text.replace('wrong', 'r2@example.org').replace('r3,,', 'r3,r3,');
  expect(counted(await imported(app.key, corrected, 'ignore_unknown_columns=true'))).toEqual({ created: 2 });
  expect((await linked(app.key, 'r2')).phone).toBe('+44; 2');
});

test('rows that fail because of other rows are in it too, with their cells', async () => {
  await imported(app.key, csv('ExternalId,Username,Email', 'd1,d1,d1@example.org'));
  const run = await imported(
    app.key,
    csv(
      'ExternalId,Username,Email',
      'd1,d1,d1@example.org',
      'd1,d1,d9@example.org',
      'd2,d2,d2@example.org',
      'd3,D2,d3@example.org',
    ),
  );
  expect((await failedCsv(run.id)).split('\r\n').slice(1)).toEqual([
    'd1,d1,d1@example.org,2,duplicate,external_id is set by another change too: line 3',
    'd1,d1,d9@example.org,3,duplicate,external_id is set by another change too: line 2',
    'd2,d2,d2@example.org,4,duplicate,username is set by another change too: line 5',
    'd3,D2,d3@example.org,5,duplicate,username is set by another change too: line 4',
    '',
  ]);
});

test('the list of runs: newest first, by state and data set, in pages', async () => {
  const ids: string[] = [];
  for (const dry of ['true', 'false', 'true']) {
    ids.unshift(
      (
        await imported(
          app.key,
          csv('ExternalId,Username,Email', 'l,l,l@example.org'),
          `dataset=list&dry_run=${dry}`,
        )
      ).id,
    );
  }
  const list = async (query: string) => {
    const { Count, Results } = (await app.key.get(`/imports?dataset=list&${query}`)).body;
    return [Count, Results.map((run: { id: string }) => run.id)];
  };
  expect(await list('limit=2')).toEqual([3, ids.slice(0, 2)]);
  expect(await list('offset=2')).toEqual([3, ids.slice(2)]);
  expect(await list('state=planned')).toEqual([2, [ids[0], ids[2]]]);
  expect(await list('state=planned&state=completed')).toEqual([3, ids]);
  expect(await list('state=rejected')).toEqual([0, []]);
});

test('unchanged rows are counted and not stored, also where the data set begins to manage their user', async () => {
  await create(app.key, { username: 'u1', email: 'u1@example.org', external_id: 'u1' });
  const run = await imported(app.key, csv('ExternalId,Username', 'u1,u1'));
  expect(counted(run)).toEqual({ unchanged: 1 });
  for (const query of ['', 'outcome=unchanged']) expect(await rowsOf(app.key, run.id, query)).toEqual([]);
});

test('rows by outcome and code', async () => {
  const run = await imported(
    app.key,
    csv('ExternalId,Username,Email', 'o1,o1,o1@example.org', 'o2,,o2@example.org', 'o3,o3,bad', 'o4,o4,bad'),
  );
  const lines = async (query: string) => (await rowsOf(app.key, run.id, query)).map(({ line }) => line);
  expect(await lines('outcome=created')).toEqual([2]);
  expect(await lines('outcome=error&limit=2')).toEqual([3, 4]);
  expect(await lines('outcome=error&offset=2')).toEqual([5]);
  expect(await lines('outcome=created&outcome=error')).toEqual([2, 3, 4, 5]);
  expect(await lines('code=invalid_format')).toEqual([4, 5]);
});

test('events report the run until it ends', async () => {
  const { body } = await upload(app.key, csv('ExternalId,Username,Email', 'e1,e1,e1@example.org'));
  const { headers, text } = await app.key.get(`/imports/${body.id}/events`);
  expect(headers['content-type']).toContain('text/event-stream');
  const events = text.split('\n\n').filter((event) => event !== '');
  expect(events.every((event) => event.startsWith('event: progress\ndata: {'))).toBe(true);
  const last = JSON.parse(events.at(-1)?.split('data: ')[1] ?? '');
  expect(last).toEqual((await app.key.get(`/imports/${body.id}`)).body);
  expect([last.state, last.progress]).toEqual([
    'completed',
    { phase: 'completed', rows_done: 1, rows_total: 1, percent: 100, eta_seconds: null },
  ]);
  expect([last.actor.kind, last.file.name, last.file.size]).toEqual(['key', 'upload.csv', 49]);
});

test('the template has every column and no row', async () => {
  const { text, headers } = await app.key.get('/imports/template.csv');
  expect(headers['content-type']).toBe('text/csv; charset=utf-8');
  expect(text).toBe(
    '\ufeffExternalId,Username,Email,ForeName,Surname,MiddleName,KnownAs,Phone,Mobile,Status,Roles,Authname,Manager,' +
      'HideEmail,HidePhone,Linkedin,Facebook,Twitter,ImageUrl,AboutMe\r\n',
  );
  expect((await imported(app.key, text)).problems[0].code).toBe('empty_file');
});

test('importing an export changes nothing, whatever values the users have', async () => {
  const boss = await create(app.key, { username: 'boss without id' });
  const head = await create(app.key, { external_id: '=1+1', manager_uuid: boss.uuid });
  await create(app.key, {
    external_id: "'@quoted",
    manager_uuid: head.uuid,
    username: '-Ann "the" Lee, Jr',
    firstname: '佐藤',
    surname: "'=cmd|' /C calc'!A0",
    phone: '+44 20',
    mobile: '@1',
    roles: ['Editor', 'Author', 'External user'],
    status: 'Blocked',
    authname: { saml: ['CORP\\ann', 'a|b', 'c\\|d\\', 'e'], ldap: ['x'] },
    user_avatar: 'https://intranet/a,b.png',
    about_me: 'two\nlines, "quotes"\n\n=3',
    social_media: { linkedin: 'https://l.example/?a=1|2', twitter: 'https://t.example/' },
    hide_email: true,
    hide_phone_numbers: true,
  });
  const users = () => databaseOf(app).query('SELECT * FROM users ORDER BY uuid');
  const before = (await users()).map((user) => ({ ...user, managed_by: '' }));
  const audits = () =>
    databaseOf(app).query("SELECT COUNT(*) AS count FROM audit_events WHERE target_kind = 'user'");
  const auditsBefore = await audits();
  const { text } = await app.key.get('/users/export.csv');
  expect(text).not.toContain('boss without id,');
  const rows = text.trimEnd().split('\r\n').length - 1;
  const run = await imported(app.key, text, 'dataset=export');
  expect([run.problems, counted(run)]).toEqual([[], { unchanged: rows }]);
  expect((await users()).map((user) => ({ ...user, managed_by: '' }))).toEqual(before);
  expect(await audits()).toEqual(auditsBefore);
  expect((await app.key.get('/users/export.csv?all=true')).text).toContain('boss without id,');
});

test('the same file again writes nothing except its run', async () => {
  const file = csv(
    'ExternalId,Username,Email,Phone,Manager,Roles',
    ...Array.from({ length: 600 }, (_, i) => `n${i},n${i},n${i}@example.org,+44 ${i},n${i + 1},`).slice(
      0,
      599,
    ),
    'n599,n599,n599@example.org,,,Editor',
  );
  expect(counted(await imported(app.key, file, 'dataset=twice'))).toEqual({ created: 600 });
  const tables = [
    'users',
    'user_identifiers',
    'user_roles',
    'user_words',
    'user_counts',
    'audit_events',
    'import_rows',
    'import_file_parts',
    'sessions',
    'leases',
  ];
  const all = async () => {
    const contents = new Map<string, string>();
    for (const table of tables) {
      // The life of the import itself is recorded.
      const which = table === 'audit_events' ? " WHERE target_kind = 'user'" : '';
      const rows = await databaseOf(app).query(`SELECT * FROM ${table}${which}`);
      contents.set(table, table === 'leases' ? String(rows.length) : JSON.stringify(rows));
    }
    return contents;
  };
  const before = await all();
  expect(counted(await imported(app.key, file, 'dataset=twice'))).toEqual({ unchanged: 600 });
  expect(await all()).toEqual(before);
});

test('a run shows its first 50 problems, and lists them all', async () => {
  const rows = Array.from({ length: 60 }, (_, i) => `many${i},many${i},no address`);
  const run = await imported(app.key, csv('ExternalId,Username,Email', ...rows), 'dataset=many');
  expect(run.problems.map(({ line }: Json) => line)).toEqual(Array.from({ length: 50 }, (_, i) => i + 2));
  expect((await app.key.get(`/imports/${run.id as string}/rows?outcome=error`)).body.Count).toBe(60);
});

test('old runs are purged with everything that belongs to them, younger ones stay', async () => {
  const file = (name: string) => csv('ExternalId,Username,Email', `${name},${name},${name}@example.org`);
  const [old, waiting, young] = [
    await imported(app.key, file('purge1')),
    await imported(app.key, file('purge2'), 'dry_run=true'),
    await imported(app.key, file('purge3')),
  ];
  const database = databaseOf(app);
  const age = 'UPDATE import_runs SET finished = ? WHERE id = ?';
  await database.execute(age, [inSeconds(-91 * 24 * 3600), old.id]);
  await database.execute(age, [inSeconds(-89 * 24 * 3600), young.id]);
  await app.app.get(PurgeService).run();
  const statuses = [old, waiting, young].map(
    async ({ id }) => (await app.key.get(`/imports/${id as string}`)).status,
  );
  expect(await Promise.all(statuses)).toEqual([404, 200, 200]);
  const left = 'SELECT COUNT(*) AS count FROM import_rows WHERE run_id = ?';
  const counts = [old, young].map(
    async ({ id }) => (await database.query<{ count: number }>(left, [id]))[0]?.count,
  );
  expect(await Promise.all(counts)).toEqual([0, 1]);
});

test('a plan that nobody decides on expires, and its file is deleted', async () => {
  const file = (name: string) => csv('ExternalId,Username,Email', `${name},${name},${name}@example.org`);
  const [old, young] = [
    await imported(app.key, file('lapse1'), 'dry_run=true'),
    await imported(app.key, file('lapse2'), 'dry_run=true'),
  ];
  const age = 'UPDATE import_runs SET created = ? WHERE id = ?';
  await databaseOf(app).execute(age, [inSeconds(-91 * 24 * 3600), old.id]);
  await databaseOf(app).execute(age, [inSeconds(-89 * 24 * 3600), young.id]);
  await app.app.get(PurgeService).run();
  const [lapsed, waiting] = [
    (await app.key.get(`/imports/${old.id as string}`)).body,
    (await app.key.get(`/imports/${young.id as string}`)).body,
  ];
  expect(lapsed).toMatchObject({ state: 'superseded', problems: [{ code: 'lapsed' }] });
  expect(waiting.state).toBe('planned');
  const parts = await databaseOf(app).query<{ run_id: string }>('SELECT run_id FROM import_file_parts');
  expect(parts.map((part) => part.run_id)).toContain(young.id);
  expect(parts.map((part) => part.run_id)).not.toContain(old.id);
  expect((await app.key.post(`/imports/${old.id as string}/apply`)).status).toBe(409);
});
