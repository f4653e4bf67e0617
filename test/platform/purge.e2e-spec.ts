import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { PurgeService } from '../../src/setup/purge.service.js';
import { TestApp } from '../support/app.js';
import { ALL_BUT_DATE } from '../support/clock.js';
import { aUser } from '../support/factories.js';
import { csv, imported } from '../support/imports.js';
import { databaseOf, problemOf } from '../support/people.js';

/** The daily work of a service leaves nothing behind except the users and what the operators want to keep. */
const DAY = 24 * 60 * 60 * 1000;
let app: TestApp;
beforeAll(async () => void (app = await TestApp.start({ AUDIT_RETENTION_DAYS: '30' })));
afterEach(() => void jest.useRealTimers());
afterAll(() => app.end());

const setClock = (now: number) => jest.useFakeTimers({ now, advanceTimers: true, doNotFake: ALL_BUT_DATE });
const purge = () => app.app.get(PurgeService).run();

/** The number of rows in every table except those of the users. */
async function counts(): Promise<Record<string, number>> {
  const database = databaseOf(app);
  const names = await database.query<{ name: string }>(
    database.dialect === 'sqlite'
      ? "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
      : 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()',
  );
  const others = names.map(({ name }) => name).filter((name) => !KEPT.test(name));
  const rows = others.sort().map(async (name) => {
    const row = await database.first<{ n: number }>(`SELECT COUNT(*) AS n FROM ${name}`);
    return [name, row?.n ?? 0] as const;
  });
  return Object.fromEntries(await Promise.all(rows));
}

/** Users, and what proves the audit: a seal an hour, and who is behind an import, two rows for each (ADR 19). */
const KEPT = /^(user(s|_.*)|audit_(seals|runs))$/;

/** Log-ins that succeed and fail, a user, an import that is applied and one that is only planned. */
async function day(number: number): Promise<void> {
  await app.login();
  expect(problemOf(await app.nobody.post('/sessions/login', { username: 'nobody', password: 'x' }))).toEqual([
    401,
    'login_failed',
  ]);
  const made = await app.key.post('/users', aUser(), { 'idempotency-key': `day-${number}` });
  expect(made.status).toBe(201);
  const file = csv('ExternalId,Username,Email', `D${number},day${number},day${number}@example.org`);
  await imported(app.key, file, `dry_run=true&dataset=day${number}`);
  expect((await imported(app.key, file, `dataset=day${number}`)).state).toBe('completed');
}

test('no table grows with time', async () => {
  const left: Record<string, number>[] = [];
  const start = Date.now();
  for (const number of [1, 2, 3]) {
    setClock(start + number * 200 * DAY);
    await day(number);
    const busy = await counts();
    for (const table of ['sessions', 'login_failures', 'idempotent_requests', 'import_runs', 'import_rows']) {
      expect([table, busy[table]]).not.toEqual([table, 0]);
    }
    setClock(start + (number * 200 + 95) * DAY);
    await purge();
    setClock(start + (number * 200 + 190) * DAY); // and a plan that nobody decided on
    await purge();
    left.push(await counts());
  }
  expect(left[1]).toEqual(left[0]);
  expect(left[2]).toEqual(left[0]);
  const nothing = { sessions: 0, login_failures: 0, idempotent_requests: 0, import_runs: 0, import_rows: 0 };
  expect(left[0]).toMatchObject({ ...nothing, import_file_parts: 0, audit_events: 0 });
});

test('what is still valid stays', async () => {
  const start = Date.now() + 1000 * DAY;
  setClock(start);
  const session = await app.login();
  await day(9);
  setClock(start + 60_000);
  const before = await counts();
  await purge();
  expect(await counts()).toEqual(before);
  expect((await session.get('/users/me')).status).toBe(200);
});
