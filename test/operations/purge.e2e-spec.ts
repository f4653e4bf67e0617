import { afterEach, expect, jest, test } from '@jest/globals';
import { PurgeService } from '../../src/operations/start/purge.service.js';
import { UserDirectory } from '../../src/users/search/user-directory.service.js';
import { setUpApp } from '../support/app/app.js';
import { ALL_BUT_DATE } from '../support/app/clock.js';
import { deletion, update, writeUsers } from '../support/app/deletion.js';
import { aUser, create } from '../support/data/factories.js';
import { csv, runImport } from '../support/app/imports.js';
import { databaseOf, problemOf } from '../support/app/people.js';
import { eventAt, insertEvents } from '../support/app/sealed-audit.js';

/** The purge deletes all expired data, so that only users and retained data grow with time. */
const DAY = 24 * 60 * 60 * 1000;
const app = setUpApp({ AUDIT_RETENTION_DAYS: '30' });
afterEach(() => void jest.useRealTimers());

const setClock = (now: number) => jest.useFakeTimers({ now, advanceTimers: true, doNotFake: ALL_BUT_DATE });
const purge = () => app.app.get(PurgeService).purgeAll();

/** Counts the rows of every table except the tables of users. */
async function countRows(): Promise<Record<string, number>> {
  const database = databaseOf(app);
  const names = await database.query<{ name: string }>(
    database.dialect === 'sqlite'
      ? "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
      : 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()',
  );
  const others = names.map(({ name }) => name).filter((name) => !USER_TABLES.test(name));
  const rows = others.sort().map(async (name) => {
    const row = await database.queryOne<{ n: number }>(`SELECT COUNT(*) AS n FROM ${name}`);
    return [name, row?.n ?? 0] as const;
  });
  return Object.fromEntries(await Promise.all(rows));
}

/** Tables of users. Apart from these, only seals grow by design, by one small row per hour (ADR 19). */
const USER_TABLES = /^user(s|_.*)$/;

/** Does the work of a day: a login, a failed login, a new user, a planned import and an applied import. */
async function workOneDay(number: number): Promise<void> {
  await app.login();
  const refused = await app.guest.post('/sessions/login', { username: 'nobody', password: 'x' });
  expect(problemOf(refused)).toEqual([401, 'login_failed']);
  const created = await app.key.post('/users', aUser(), { 'idempotency-key': `day-${number}` });
  expect(created.status).toBe(201);
  await writeUsers(app, [update(created.body.uuid, { username: `renamed${number}` })]);
  const file = csv('ExternalId,Username,Email', `D${number},day${number},day${number}@example.org`);
  await runImport(app.key, file, `dry_run=true&dataset=day${number}`);
  expect((await runImport(app.key, file, `dataset=day${number}`)).state).toBe('completed');
}

const BUSY = [
  'released_usernames',
  'sessions',
  'login_failures',
  'idempotent_requests',
  'import_runs',
  'import_rows',
];

test('with regular purges, only users and audit seals grow', async () => {
  const left: Record<string, number>[] = [];
  let sealed = 0;
  const start = Date.now();
  for (const number of [1, 2, 3]) {
    setClock(start + number * 200 * DAY);
    await workOneDay(number);
    const busy = await countRows();
    for (const table of BUSY) {
      expect([table, busy[table]]).not.toEqual([table, 0]);
    }
    setClock(start + (number * 200 + 95) * DAY);
    await purge();
    setClock(start + (number * 200 + 190) * DAY); // the age at which undecided plans are purged
    await purge();
    const { audit_seals: seals, ...others } = await countRows();
    expect(seals).toBeGreaterThan(sealed);
    sealed = seals ?? 0;
    const [full] = await databaseOf(app).query(
      'SELECT number FROM audit_seals WHERE members IS NOT NULL AND number <= (SELECT MAX(purged) FROM audit_seals)',
    );
    expect(full).toBeUndefined(); // the event list of a seal is deleted with its events
    left.push(others);
  }
  expect(left[1]).toEqual(left[0]);
  expect(left[2]).toEqual(left[0]);
  const nothing = { sessions: 0, login_failures: 0, idempotent_requests: 0, import_runs: 0, import_rows: 0 };
  expect(left[0]).toMatchObject({ ...nothing, import_file_parts: 0, audit_events: 0 });
});

test('the purge does not delete rows that have not expired', async () => {
  const start = Date.now() + 1000 * DAY;
  setClock(start);
  const session = await app.login();
  await workOneDay(9);
  setClock(start + 60_000);
  // Counts of the audit expire, too.
  const { audit_seals: sealed, audit_counts: _counted, ...before } = await countRows();
  await purge();
  const { audit_seals: seals, audit_counts: _left, ...others } = await countRows();
  expect(others).toEqual(before);
  expect(seals).toBeGreaterThanOrEqual(sealed ?? 0);
  expect((await session.get('/users/me')).status).toBe(200);
});

test('the purge keeps the start of an import as long as events of the import', async () => {
  const sql = databaseOf(app);
  const at = Date.now() + 3000 * DAY;
  const events = [
    eventAt(at, { action: 'import.created', target_kind: 'import' }),
    eventAt(at + 40 * DAY, { actor_kind: 'import' }),
    // The clock was wrong when this event was recorded, so that it is in the future.
    eventAt(at + 9000 * DAY, { actor_kind: 'import' }),
  ];
  const [start] = events;
  const rows = events.map((event, index) => (index > 0 ? { ...event, actor_id: start!.target_id } : event));
  await insertEvents(sql, rows);
  const findLeft = async (days: number): Promise<number> => {
    setClock(at + days * DAY);
    await purge();
    const ids = rows.map(({ id }) => id);
    return (await sql.query('SELECT id FROM audit_events WHERE id IN (?, ?, ?)', ids)).length;
  };
  expect(await findLeft(41)).toBe(3);
  expect((await app.key.get(`/audit?actor=${start!.target_id}`)).body.Results[1].actor).toMatchObject({
    started_by: { kind: 'system' },
  });
  expect(await findLeft(75)).toBe(1);
});

test('a deleted user is gone after 30 days, and a released username is free after 180 days', async () => {
  const start = Date.now();
  const { uuid, username, email } = await create(app.key, { external_id: 'final' });
  await writeUsers(app, [deletion(uuid)]);
  const file = csv('ExternalId,Username,Email', `final,${username},${email}`);
  const read = async () => [
    (await app.key.get(`/users/deleted?uuid=${uuid}`)).body.Count,
    (await runImport(app.key, file, 'dry_run=true')).counts.created,
    (await app.app.get(UserDirectory).findReleasedUsernames([username])).size,
  ];
  setClock(start + 29 * DAY);
  await purge();
  expect(await read()).toEqual([1, 0, 1]);
  setClock(start + 31 * DAY);
  expect(await read()).toEqual([0, 1, 1]);
  expect(problemOf(await app.key.post(`/users/${uuid}/restore`))).toEqual([404, 'not_found']);
  setClock(start + 181 * DAY);
  expect(await read()).toEqual([0, 1, 0]);
  await purge();
  setClock(start + 29 * DAY);
  expect(await read()).toEqual([0, 1, 0]);
});
