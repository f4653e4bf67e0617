import { describe, expect, test } from '@jest/globals';
import { Sealer } from '../../src/audit/sealer.service.js';
import { PurgeService } from '../../src/operations/start/purge.service.js';
import { TestApp, setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { csv, runImport } from '../support/app/imports.js';
import { databaseOf, inSeconds, problemOf } from '../support/app/people.js';
import { check } from '../support/app/scenario.js';
import { DAY, HOUR, SealedAudit, sealTimeAfter } from '../support/app/sealed-audit.js';

/** `GET /statistics`, which shows operators the state of the service. */
const app = setUpApp({ IMPORT_OVERDUE_HOURS: '1', AUDIT_SEAL_KEY: 'x'.repeat(32) });

const { insert } = new SealedAudit(() => app);
const fetchStats = async (query = ''): Promise<Json> =>
  (await check(app.key.get(`/statistics${query}`))).body;
const getToday = async () => (await fetchStats('?days=1')).days[0];
const formatRow = (name: string) => `${name},${name},${name}@example.org`;
const HEAD = 'ExternalId,Username,Email';

test('the statistics of a new service count one user', async () => {
  const { users, imports, api_keys, failed_logins, days, time } = await fetchStats();
  expect(users).toEqual({ active: 1, blocked: 0 });
  expect(imports).toEqual({ overdue: true, needs_approval: 0, planned: 0, running: 0, datasets: [] });
  expect(api_keys).toEqual({ expiring: [], fuses_blown: 0 });
  expect(failed_logins).toEqual({ last_24_hours: 0, exact: true });
  expect(days).toHaveLength(30);
  expect(days.at(-1).day).toBe(time.slice(0, 10));
  expect(days.every(({ complete }: Json) => complete)).toBe(true);
});

test('the statistics count users by status and changes by day', async () => {
  const before = await getToday();
  const one = await create(app.key);
  const two = await create(app.key);
  await app.key.put(`/users/${one.uuid}`, { phone: '1' });
  await app.key.put(`/users/${one.uuid}`, { status: 'Blocked' });
  await app.key.put(`/users/${two.uuid}`, { status: 'Blocked' });
  await app.key.put(`/users/${two.uuid}`, { status: 'Active' });
  await app.guest.post('/sessions/login', { username: 'nobody', password: 'x' });
  await app.login();
  expect((await fetchStats()).users).toEqual({ active: 2, blocked: 1 });
  const after = await getToday();
  const change = (name: string) => after[name] - before[name];
  expect(['created', 'updated', 'blocked', 'reactivated', 'logins', 'failed_logins'].map(change)).toEqual([
    2, 1, 2, 1, 1, 1,
  ]);
  expect((await fetchStats()).failed_logins).toEqual({ last_24_hours: 1, exact: true });
});

test('the statistics ignore failed logins older than 24 hours', async () => {
  const { last_24_hours: before } = (await fetchStats()).failed_logins;
  const [old = '', young = ''] = [
    ...(await insert(Date.now() - DAY - HOUR)),
    ...(await insert(Date.now() - DAY + HOUR)),
  ];
  await databaseOf(app).execute(
    "UPDATE audit_events SET action = 'session.login_failed' WHERE id IN (?, ?)",
    [old, young],
  );
  expect((await fetchStats()).failed_logins.last_24_hours).toBe(Number(before) + 1);
  await app.app.get(Sealer).sealEndedHours();
});

describe('the import statistics', () => {
  test('show the last completed run of each data set', async () => {
    const done = await runImport(app.key, csv(HEAD, formatRow('S1'), formatRow('S2')), 'dataset=staff');
    const plan = await runImport(app.key, csv(HEAD, formatRow('S1')), 'dataset=staff&dry_run=true');
    await runImport(app.key, csv(HEAD, formatRow('S1')), 'dataset=pilots&dry_run=true');
    const failed = await runImport(app.key, csv('Wrong,Header', 'a,b'), 'dataset=pilots');
    const { imports } = await fetchStats();
    const [pilots, staff] = imports.datasets;
    expect(imports).toMatchObject({ overdue: false, planned: 2, needs_approval: 0 });
    expect(imports.datasets).toHaveLength(2);
    expect(pilots).toMatchObject({ dataset: 'pilots', last_run: { id: failed.id, state: 'failed' } });
    expect(pilots.last_completed).toBeUndefined();
    expect(staff).toMatchObject({
      dataset: 'staff',
      last_run: { id: plan.id, dry_run: true, state: 'planned' },
    });
    expect(staff.last_completed).toMatchObject({ id: done.id, state: 'completed', counts: { created: 2 } });
    expect(staff.last_completed.finished).toBe(done.finished);
  });
  test('count runs that wait for approval', async () => {
    const before = await getToday();
    const people = Array.from({ length: 30 }, (_, index) => formatRow(`G${index}`));
    await runImport(app.key, csv(HEAD, ...people), 'dataset=guarded');
    const parked = await runImport(app.key, csv(HEAD, people[0]!), 'dataset=guarded&missing=block');
    expect(parked.state).toBe('needs_approval');
    expect((await fetchStats()).imports.needs_approval).toBe(1);
    await app.key.post(`/imports/${parked.id}/reject`);
    const after = await getToday();
    expect((await fetchStats()).imports.needs_approval).toBe(0);
    expect(after.imports_completed - before.imports_completed).toBe(1);
    expect(after.imports_rejected - before.imports_rejected).toBe(1);
    expect(after.created - before.created).toBe(30);
  });
});

test('the statistics list API keys that expire within 30 days', async () => {
  const createKey = async (name: string, days: number) =>
    app.key.post('/api_keys', { name, expires: new Date(Date.now() + days * DAY).toISOString() });
  await createKey('in 31', 31);
  const later = (await createKey('in 29', 29)).body;
  await createKey('in 3', 3);
  await app.key.delete(`/api_keys/${(await createKey('revoked', 5)).body.id}`);
  const gone = (await createKey('expired', 7)).body;
  await databaseOf(app).execute('UPDATE api_keys SET expires = ? WHERE id = ?', [inSeconds(-1), gone.id]);
  const { expiring } = (await fetchStats()).api_keys;
  expect(expiring.map(({ name }: Json) => name)).toEqual(['in 3', 'in 29']);
  expect(expiring[1]).toEqual({ id: later.id, name: 'in 29', expires: later.expires });
});

describe('the days in the statistics', () => {
  const first = new Date(Date.now() - 89 * DAY).toISOString().slice(0, 10);
  test('are consecutive and as many as requested', async () => {
    const { days } = await fetchStats('?days=90');
    expect(days).toHaveLength(90);
    expect(days[0].day).toBe(first);
    const millis = days.map(({ day }: Json) => Date.parse(day));
    expect(millis).toEqual(millis.map((_: number, index: number) => Date.parse(first) + index * DAY));
  });
  test.each([14, -12])('follow the time zone of utc_offset=%i', async (offset) => {
    const { days, time } = await fetchStats(`?days=2&utc_offset=${offset}`);
    const local = new Date(Date.parse(time) + offset * HOUR).toISOString().slice(0, 10);
    expect(days.at(-1).day).toBe(local);
  });
  test.each(['days=91', 'days=1.5', 'utc_offset=15', 'utc_offset=%2B2'])(
    'cannot be requested with %s',
    async (query) => {
      expect(problemOf(await app.key.get(`/statistics?${query}`))).toEqual([400, 'invalid_parameter']);
    },
  );
});

test('the statistics of a day stay the same after its events are sealed', async () => {
  const before = await getToday();
  await app.app.get(Sealer).sealEndedHours(sealTimeAfter(1));
  expect(await getToday()).toEqual(before);
});

// Last, because a second service in the process replaces the first.
describe('a new service', () => {
  test('keeps daily statistics after the purge deletes the events', async () => {
    const other = await TestApp.start({ AUDIT_RETENTION_DAYS: '2' });
    try {
      await new SealedAudit(() => other).insert(Date.now() - 5 * DAY, 7);
      const updated = async () => (await other.key.get('/statistics?days=7')).body.days[1];
      await other.app.get(Sealer).sealEndedHours();
      const before = await updated();
      expect(before).toMatchObject({ updated: 7, complete: true });
      await other.app.get(PurgeService).purgeAll();
      const [left] = await databaseOf(other).query<{ n: number }>(
        'SELECT COUNT(*) AS n FROM audit_events WHERE time < ?',
        [inSeconds((-4 * DAY) / 1000)],
      );
      expect(left?.n).toBe(0);
      expect(await updated()).toEqual(before);
    } finally {
      await other.end();
    }
  });
});
