import { beforeEach, expect, test } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { AuditCounts } from '../../src/audit/audit-counts.service.js';
import { Sealer } from '../../src/audit/sealer.service.js';
import { PurgeService } from '../../src/operations/start/purge.service.js';
import { TestApp, setUpFreshApp } from '../support/app/app.js';
import { databaseOf } from '../support/app/people.js';
import {
  DAY,
  HOUR,
  MINUTE,
  SealedAudit,
  sealTimeAfter,
  eventAt,
  insertEvents,
} from '../support/app/sealed-audit.js';

/** Counts of recorded actions, from the seals and from events that are not sealed yet. */
const app = setUpFreshApp({ AUDIT_RETENTION_DAYS: '30' });
const { seal, verify, execute, insert, insertIds, readSeals } = new SealedAudit(() => app);
// Deletes the events of the start, so that only the events of a test are counted.
beforeEach(() => execute('DELETE FROM audit_events'));

const THIS_HOUR = Math.floor(Date.now() / HOUR);
const toMidnight = (hour: number) => hour - (hour % 24);

/** Returns the number of updated users for each of the last 40 days, and the gaps. */
async function readUpdates(offset = 0) {
  const from = toMidnight(THIS_HOUR + offset) - offset - 40 * 24;
  const { counts, gaps } = await app.app.get(AuditCounts).countByDay(['user.updated'], from, offset);
  const days: Record<number, number> = {};
  for (const { hour, value } of counts) {
    if (value === 0) continue;
    const day = Math.floor((hour + offset) / 24);
    days[day] = (days[day] ?? 0) + value;
  }
  return { days, gaps };
}
const readTotal = async () =>
  Object.values((await readUpdates()).days).reduce((sum, value) => sum + value, 0);
const dayOf = (millis: number, offset = 0) => Math.floor((millis / HOUR + offset) / 24);
const readSealCounts = () =>
  databaseOf(app).query<{ seal: number; hour: number; action: string; value: number }>(
    'SELECT seal, hour, action, value FROM audit_counts ORDER BY seal, hour, action',
  );

test('audit counts include each event once, even after sealing or purging', async () => {
  const old = Date.now() - 35 * DAY;
  await insert(old, 3);
  await insert(Date.now() - 3 * HOUR, 2);
  await insert(Date.now(), 5);
  expect((await readUpdates()).gaps).toHaveLength(1); // no seal was created for weeks
  await seal(Date.now());
  const days = { [dayOf(old)]: 3, [dayOf(Date.now() - 3 * HOUR)]: 2 };
  days[dayOf(Date.now())] = (days[dayOf(Date.now())] ?? 0) + 5;
  expect(await readUpdates()).toEqual({ days, gaps: [] });
  await app.app.get(PurgeService).purgeAll();
  expect(
    await databaseOf(app).query('SELECT id FROM audit_events WHERE id < ?', [uuidv7({ msecs: old + 1 })]),
  ).toEqual([]);
  expect(await readUpdates()).toEqual({ days, gaps: [] });
  await seal(sealTimeAfter());
  expect(await readUpdates()).toEqual({ days, gaps: [] });
});

test("days of audit counts start at midnight in the client's time zone", async () => {
  const begin = (toMidnight(THIS_HOUR) - 5 * 24) * HOUR;
  for (let hour = 0; hour < 24; hour++) await insert(begin + hour * HOUR + 1, hour + 1);
  await seal(Date.now());
  const addUp = (from: number, until: number) =>
    Array.from({ length: until - from }, (_, index) => from + index + 1).reduce((a, b) => a + b, 0);
  const day = dayOf(begin);
  expect((await readUpdates()).days).toEqual({ [day]: 300 });
  expect((await readUpdates(2)).days).toEqual({ [day]: addUp(0, 22), [day + 1]: addUp(22, 24) });
  expect((await readUpdates(-5)).days).toEqual({ [day - 1]: addUp(0, 5), [day]: addUp(5, 24) });
});

test('audit counts include late events after the next seal', async () => {
  const end = THIS_HOUR * HOUR - 30 * HOUR;
  await insert(end - HOUR - MINUTE, 3);
  await insert(end - 5 * MINUTE, 3);
  await seal(end + 6 * MINUTE);
  await insert(end - 5 * MINUTE + 5, 2);
  expect(await readTotal()).toBe(6);
  await seal(end + HOUR + 6 * MINUTE);
  expect(await readTotal()).toBe(8);
  const late = (await readSealCounts()).filter(({ value, hour }) => value === 2 && hour === end / HOUR - 1);
  expect(late).toHaveLength(1);
});

test('audit counts omit events with an unknown action or future time', async () => {
  await insert(Date.now() - 3 * HOUR, 2);
  await insertEvents(databaseOf(app), [eventAt(Date.now() - 3 * HOUR, { action: 'user.destroyed' })]);
  await insertIds(Date.now(), [uuidv7({ msecs: Date.now() + 5 * DAY })]);
  await seal(Date.now());
  expect((await readSealCounts()).map(({ action, value }) => [action, value])).toEqual([['user.updated', 2]]);
});

test('instances that seal concurrently build one chain of seals', async () => {
  for (let hour = 2; hour < 8; hour++) await insert(Date.now() - hour * HOUR, 3);
  const other = await TestApp.startOn(app.database);
  await Promise.all([seal(Date.now()), other.app.get(Sealer).sealEndedHours(Date.now()), seal(Date.now())]);
  await other.stop();
  expect(await readTotal()).toBe(18);
  const numbers = (await readSeals()).map(({ number }) => number);
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  expect(await verify()).toMatchObject({ rows: 18, fault: null });
});

test('audit counts older than the longest requestable period are purged', async () => {
  await insert(Date.now() - 120 * DAY, 3);
  await insert(Date.now() - 80 * DAY, 2);
  await seal(Date.now());
  await app.app.get(PurgeService).purgeAll();
  expect((await readSealCounts()).map(({ value }) => value)).toEqual([2]);
});

test('audit counts report a gap if more than 10,000 events are unsealed', async () => {
  await seal(Date.now());
  const ids = Array.from({ length: 10_001 }, (_, index) => uuidv7({ msecs: Date.now(), seq: index * 8 }));
  for (let from = 0; from < ids.length; from += 1000)
    await insertIds(Date.now(), ids.slice(from, from + 1000));
  const { days, gaps } = await readUpdates();
  expect(days).toEqual({ [dayOf(Date.now())]: 10_000 });
  expect(gaps).toEqual([{ from: THIS_HOUR, until: THIS_HOUR + 1 }]);
  expect(await app.app.get(AuditCounts).countSince('user.updated', Date.now() - HOUR)).toEqual({
    count: 10_000,
    exact: false,
  });
  await seal(sealTimeAfter());
  expect(await readUpdates()).toEqual({ days: { [dayOf(Date.now())]: 10_001 }, gaps: [] });
});
