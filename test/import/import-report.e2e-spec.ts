import { expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { PurgeService } from '../../src/operations/start/purge.service.js';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import {
  countsOf,
  csv,
  decide,
  findUser,
  readFailed,
  readRun,
  runImport,
  upload,
} from '../support/app/imports.js';
import { databaseOf, inSeconds } from '../support/app/people.js';
import { HEAD, fileOf, people } from '../support/data/user-file.js';

/** Reports about imports, and the CSV files that the service writes. */
const app = setUpApp();

test('failed.csv contains failed rows and can be corrected and imported', async () => {
  const file = Buffer.from(
    '\ufeffExternalId;Username;Email;Phone;Shoe size\r\nr1;r1;r1@example.org;+44 1;43\r\nr2;r2;wrong;"+44; 2";44\r\nr3;;r3@example.org;;"4""5"\r\n',
    'utf16le',
  );
  const run = await runImport(app.key, file, 'ignore_unknown_columns=true');
  const answer = await app.key.get(`/imports/${run.id}/failed.csv`);
  expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8');
  expect(answer.headers['content-disposition']).toBe(`attachment; filename="failed-${run.id}.csv"`);
  expect(answer.text).toBe(
    '\ufeffExternalId;Username;Email;Phone;_run;_line;_code;_message\r\n' +
      `r2;r2;wrong;"'+44; 2";${run.id};3;invalid_format;email must be an e-mail address\r\n` +
      `r3;;r3@example.org;;${run.id};4;required;username is required\r\n`,
  );
  const again = await runImport(app.key, answer.text, 'ignore_unknown_columns=true');
  expect(await readFailed(app.key, again.id)).toBe(
    answer.text.replaceAll(run.id, again.id).replace(';3;inv', ';2;inv').replace(';4;req', ';3;req'),
  );
  const corrected = answer.text.replace('wrong', 'r2@example.org').replace('r3;;', 'r3;r3;');
  const last = await runImport(app.key, corrected, 'ignore_unknown_columns=true');
  expect(countsOf(last)).toEqual({ created: 2 });
  expect((await findUser(app.key, 'r2')).phone).toBe('+44; 2');
});

test('a plan counts new users with the status Blocked, without failed rows', async () => {
  const row = (id: string, username: string, status: string, manager = '') =>
    `${id},${username},${id}@example.org,${status},${manager}`;
  const rows = [
    row('cb1', 'cb1', 'Active'),
    row('cb2', 'cb2', 'Blocked'),
    row('cb3', 'cb3', 'Blocked'),
    row('cb4', 'cb3', 'Blocked'), // the username is already on the line before
    row('cb5', 'cb5', 'Blocked', 'cb4'),
    row('cb6', 'cb6', 'blocked', 'cb2'),
  ];
  const file = csv('ExternalId,Username,Email,Status,Manager', ...rows);
  const plan = await runImport(app.key, file, 'dataset=created-blocked&dry_run=true');
  const run = await decide(app.key, plan.id, 'apply');
  const { body } = await app.key.get('/users/search?managed_by=created-blocked&status=Blocked');
  expect([plan.created_blocked, run.created_blocked]).toEqual([body.Count, body.Count]);
  expect([plan.counts.error, body.Count]).toEqual([3, 2]);
  const again = await runImport(app.key, file, 'dataset=created-blocked');
  expect(again.created_blocked).toBe(0);
});

test('GET /imports lists imports newest first, with paging and filters', async () => {
  const ids: string[] = [];
  for (const dry of ['true', 'false', 'true'])
    ids.unshift((await runImport(app.key, fileOf('l'), `dataset=list&dry_run=${dry}`)).id);
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

test('the event stream of an import ends with the final state', async () => {
  const { body } = await upload(app.key, fileOf('e1'));
  const { headers, text } = await app.key.get(`/imports/${body.id}/events`);
  expect(headers['content-type']).toContain('text/event-stream');
  const events = text.split('\n\n').filter((event) => event !== '');
  expect(events.every((event) => event.startsWith('event: progress\ndata: {'))).toBe(true);
  const last = JSON.parse(events.at(-1)?.split('data: ')[1] ?? '');
  expect(last).toEqual(await readRun(app.key, body.id));
  expect(last).toMatchObject({
    state: 'completed',
    progress: { phase: 'completed', rows_done: 1, rows_total: 1, percent: 100, eta_seconds: null },
    actor: { kind: 'key' },
    file: { name: 'upload.csv', size: 49 },
  });
});

test('GET /imports/template.csv returns a header with every column', async () => {
  const { text, headers } = await app.key.get('/imports/template.csv');
  expect(headers['content-type']).toBe('text/csv; charset=utf-8');
  expect(text).toBe(
    '\ufeffExternalId,Username,Email,ForeName,Surname,MiddleName,KnownAs,Phone,Mobile,Status,Roles,Authname,Manager,' +
      'HideEmail,HidePhone,Linkedin,Facebook,Twitter,ImageUrl,AboutMe\r\n',
  );
  expect((await runImport(app.key, text)).problems[0].code).toBe('empty_file');
});

test('importing a user export changes no user', async () => {
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
  const readUsers = () => databaseOf(app).query('SELECT * FROM users ORDER BY uuid');
  const before = (await readUsers()).map((user) => ({ ...user, managed_by: '' }));
  const countAudits = () =>
    databaseOf(app).query("SELECT COUNT(*) AS count FROM audit_events WHERE target_kind = 'user'");
  const auditsBefore = await countAudits();
  const { text } = await app.key.get('/users/export.csv');
  expect(text).not.toContain('boss without id,');
  const rows = text.trimEnd().split('\r\n').length - 1;
  const run = await runImport(app.key, text, 'dataset=export');
  expect([run.problems, countsOf(run)]).toEqual([[], { unchanged: rows }]);
  expect((await readUsers()).map((user) => ({ ...user, managed_by: '' }))).toEqual(before);
  expect(await countAudits()).toEqual(auditsBefore);
  const events = (await app.key.get(`/audit?target=${run.id}`)).body.Results;
  expect(events.map(({ action }: Json) => action)).toEqual(['import.created']);
  expect((await app.key.get('/users/export.csv?all=true')).text).toContain('boss without id,');
});

test('GET /users/export.csv has the filters of the search', async () => {
  const of = `manager_uuid=${(await create(app.key, { username: 'export-boss' })).uuid as string}`;
  const manager_uuid = of.slice(-36);
  const uuids: string[] = [];
  for (const [n, role] of ['Editor', 'Editor', 'Author'].entries())
    uuids.push((await create(app.key, { external_id: `X${n}`, roles: [role], manager_uuid })).uuid);
  const exportIds = async (query: string): Promise<string> => {
    const { text, body } = await app.key.get(`/users/export.csv?${query}`);
    const ids = [...text.matchAll(/(?<=\n)[^,]*/g)].map(([id]) => id).sort();
    return body?.code ?? ids.join().slice(1);
  };
  expect(await exportIds(`${of}&role=editor`)).toBe('X0,X1');
  expect(await exportIds(`${of}&role=editor&role=author&status=Active`)).toBe('X0,X1,X2');
  expect(await exportIds('external_id=X2')).toBe('X2');
  const chosen = `uuid=${uuids[2]}&uuid=${uuids[0]?.toUpperCase()}&uuid=${randomUUID()}`;
  expect(await exportIds(chosen)).toBe('X0,X2');
  expect(await exportIds(`${chosen}&role=author`)).toBe('X2');
  const boss = `uuid=${manager_uuid}`;
  expect(await exportIds(boss)).toBe('');
  expect(await exportIds(Array(100).fill(`uuid=${uuids[1]}`).join('&'))).toBe('X1');
  for (const option of ['all=true', 'has_external_id=false']) {
    const { text } = await app.key.get(`/users/export.csv?${boss}&username=export-boss&${option}`);
    expect(text).toMatch(/\n,export-boss,/);
  }
  const tooMany = Array(101).fill(`uuid=${uuids[1]}`).join('&');
  for (const wrong of ['role=Nobody', 'sort=email', 'limit=5', 'fulltext_search=*', 'uuid=X0', tooMany])
    expect(await exportIds(wrong)).toBe('invalid_parameter');
  expect(await exportIds(`${of}&status=Blocked`)).toBe('');
  const [{ changes }] = (await app.key.get('/audit?action=users.exported')).body.Results;
  expect(changes.map(({ new: value }: Json) => value)).toEqual([false, 'status', 'manager_uuid']);
});

test('a second import of the same file writes no user data', async () => {
  const rows = people('n', 600, (i) => [`+44 ${i}`, i < 599 ? `n${i + 1}` : '', i < 599 ? '' : 'Editor']);
  const file = csv(`${HEAD},Phone,Manager,Roles`, ...rows);
  expect(countsOf(await runImport(app.key, file, 'dataset=twice'))).toEqual({ created: 600 });
  const users = ['users', 'user_identifiers', 'user_roles', 'user_words', 'user_counts'];
  const others = ['import_rows', 'import_file_parts', 'sessions'];
  // The audit also has events of the run itself, and leases are renewed.
  const sources = [...users, ...others, "audit_events WHERE target_kind = 'user'"].map(
    (from) => `* FROM ${from}`,
  );
  const readTables = () =>
    Promise.all([...sources, 'COUNT(*) FROM leases'].map((what) => databaseOf(app).query(`SELECT ${what}`)));
  const before = await readTables();
  expect(countsOf(await runImport(app.key, file, 'dataset=twice'))).toEqual({ unchanged: 600 });
  expect(await readTables()).toEqual(before);
});

test('the purge deletes imports and plan files after IMPORT_RETENTION_DAYS', async () => {
  const database = databaseOf(app);
  const addAged = async (name: string, column: string, days: number): Promise<string> => {
    const { id } = await runImport(app.key, fileOf(name), column === 'created' ? 'dry_run=true' : '');
    const past = inSeconds(-days * 24 * 3600);
    await database.execute(`UPDATE import_runs SET ${column} = ? WHERE id = ?`, [past, id]);
    return id as string;
  };
  const [old, young] = [await addAged('purge1', 'finished', 91), await addAged('purge2', 'finished', 89)];
  const [lapsed, waiting] = [await addAged('lapse1', 'created', 91), await addAged('lapse2', 'created', 89)];
  await app.app.get(PurgeService).purgeAll();
  const shown = await Promise.all(
    [old, young, lapsed, waiting].map(async (id) => {
      const { status, body } = await app.key.get(`/imports/${id}`);
      return [status, body.state, body.problems?.[0]?.code];
    }),
  );
  expect(shown).toEqual([
    [404, undefined, undefined],
    [200, 'completed', undefined],
    [200, 'superseded', 'lapsed'],
    [200, 'planned', undefined],
  ]);
  const runsIn = async (table: string) =>
    (await database.query<{ run_id: string }>(`SELECT run_id FROM ${table}`)).map((row) => row.run_id);
  const [rows, parts] = [await runsIn('import_rows'), await runsIn('import_file_parts')];
  expect([old, young].map((id) => rows.includes(id))).toEqual([false, true]);
  expect([lapsed, waiting].map((id) => parts.includes(id))).toEqual([false, true]);
  expect((await app.key.post(`/imports/${lapsed}/apply`)).status).toBe(409);
});
