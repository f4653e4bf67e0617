import { beforeEach, describe, expect, test } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { PurgeService } from '../../src/operations/start/purge.service.js';
import { setUpFreshApp } from '../support/app/app.js';
import { databaseOf } from '../support/app/people.js';
import { DAY, HOUR, MINUTE, SealedAudit } from '../support/app/sealed-audit.js';

/** Events that are inserted into the time of purged events are reported. */
const DAYS = 30;
const app = setUpFreshApp({ AUDIT_RETENTION_DAYS: String(DAYS) });
const { seal, readSeals, verify, execute, insert } = new SealedAudit(() => app);
/** End of an hour whose events are purged. */
const END = Math.floor(Date.now() / HOUR) * HOUR - (DAYS + 10) * DAY;
const LATE = END - 5 * MINUTE;

/** Creates three seals of purged hours. The second seal also covers two late events of the first hour. */
beforeEach(async () => {
  await execute('DELETE FROM audit_events'); // events recorded by the start, which are later
  await insert(END - 10 * MINUTE, 3);
  await seal(END + 6 * MINUTE);
  await insert(LATE, 2);
  await insert(END + MINUTE, 3);
  await seal(END + HOUR + 6 * MINUTE);
  await insert(END + HOUR + MINUTE, 3);
  await seal(END + 2 * HOUR + 6 * MINUTE);
  expect((await readSeals()).map(({ late_count }) => late_count)).toEqual([0, 2, 0]);
  await app.app.get(PurgeService).purgeAll();
  const left = await databaseOf(app).query('SELECT id FROM audit_events WHERE id < ?', [
    uuidv7({ msecs: END + DAY }),
  ]);
  expect([left, (await verify()).fault, (await verify()).purged]).toEqual([[], null, 3]);
});

const insertLate = (id: string, number: number) =>
  execute('INSERT INTO audit_late_events (id, seal, row_hash) VALUES (?, ?, ?)', [
    id,
    number,
    'a'.repeat(64),
  ]);

describe('verification of purged hours', () => {
  test.each([
    ['the first hour', END - 10 * MINUTE],
    ['the second hour', END + MINUTE],
    ['the third hour', END + HOUR + MINUTE],
    ['a time without events', END + 30 * MINUTE],
  ])('finds an event inserted into %s', async (_, millis) => {
    const [id] = await insert(millis);
    expect((await verify()).bad).toEqual([
      { id, message: expect.stringMatching(/^was not written by the service/) },
    ]);
  });
  test.each([1, 2, 3])('finds an inserted event linked to seal %s', async (number) => {
    const [id] = await insert(LATE);
    await insertLate(id!, number);
    const { fault } = await verify();
    expect(fault?.message).toMatch(/was not written by the service|list of late events was changed/);
  });
  test.each([1, 3])('finds a forged late-event entry for seal %s', async (number) => {
    await insertLate(uuidv7({ msecs: LATE }), number);
    expect((await verify()).fault).toMatchObject({
      seal: number,
      message: 'its list of late events was changed',
    });
  });
  test('finds more late-event entries than seal 2 covers', async () => {
    for (let n = 0; n < 3; n++) await insertLate(uuidv7({ msecs: LATE, seq: n }), 2);
    expect((await verify()).fault).toMatchObject({ seal: 2, message: 'its list of late events was changed' });
  });
});
