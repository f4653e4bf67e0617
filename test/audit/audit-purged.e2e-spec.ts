import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { PurgeService } from '../../src/operations/start/purge.service.js';
import { TestApp } from '../support/app/app.js';
import { databaseOf } from '../support/app/people.js';
import { DAY, HOUR, MINUTE, SealedAudit } from '../support/app/sealed-audit.js';

/** What the retention has deleted leaves no place in which other events could be put. */
const DAYS = 30;
let app: TestApp;
const { seal, seals, verify, execute, insert } = new SealedAudit(() => app);
/** The end of an hour that the retention deletes. */
const END = Math.floor(Date.now() / HOUR) * HOUR - (DAYS + 10) * DAY;
const LATE = END - 5 * MINUTE;

/** Three seals of deleted hours; the second covers two events that came late to the first. */
beforeEach(async () => {
  app = await TestApp.start({ AUDIT_RETENTION_DAYS: String(DAYS) });
  await execute('DELETE FROM audit_events'); // of the start, which is later
  await insert(END - 10 * MINUTE, 3);
  await seal(END + 6 * MINUTE);
  await insert(LATE, 2);
  await insert(END + MINUTE, 3);
  await seal(END + HOUR + 6 * MINUTE);
  await insert(END + HOUR + MINUTE, 3);
  await seal(END + 2 * HOUR + 6 * MINUTE);
  expect((await seals()).map(({ late_count }) => late_count)).toEqual([0, 2, 0]);
  await app.app.get(PurgeService).run();
  const left = await databaseOf(app).query('SELECT id FROM audit_events WHERE id < ?', [
    uuidv7({ msecs: END + DAY }),
  ]);
  expect([left, (await verify()).fault, (await verify()).purged]).toEqual([[], null, 3]);
});
afterEach(() => app.end());

const enter = (id: string, number: number) =>
  execute('INSERT INTO audit_late_events (id, seal, row_hash) VALUES (?, ?, ?)', [
    id,
    number,
    'a'.repeat(64),
  ]);

describe('in the time of a deleted seal', () => {
  test.each([
    ['the first', END - 10 * MINUTE],
    ['the second', END + MINUTE],
    ['the third', END + HOUR + MINUTE],
    ['a time without events', END + 30 * MINUTE],
  ])('an inserted event is found: %s', async (_, millis) => {
    const [id] = await insert(millis);
    expect((await verify()).bad).toEqual([{ id, message: expect.stringMatching(/^was inserted/) }]);
  });
  test.each([1, 2, 3])(
    'an inserted event is found that is entered as a late one of seal %s',
    async (number) => {
      const [id] = await insert(LATE);
      await enter(id!, number);
      const { fault } = await verify();
      expect(fault?.message).toMatch(/was inserted|list of late events was changed/);
    },
  );
  test.each([1, 3])('an entry is found that seal %s never had', async (number) => {
    await enter(uuidv7({ msecs: LATE }), number);
    expect((await verify()).fault).toMatchObject({
      seal: number,
      message: 'its list of late events was changed',
    });
  });
  test('more entries are found than the seal had', async () => {
    for (let n = 0; n < 3; n++) await enter(uuidv7({ msecs: LATE, seq: n }), 2);
    expect((await verify()).fault).toMatchObject({ seal: 2, message: 'its list of late events was changed' });
  });
});

describe('who is behind an import whose events', () => {
  const behind = (millis: number) =>
    execute("INSERT INTO audit_runs VALUES (?, 'started', 'system', NULL)", [uuidv7({ msecs: millis })]);
  test('the retention has deleted cannot be compared, and is not reported', async () => {
    await behind(END);
    await behind(END + HOUR + MINUTE);
    expect(await verify()).toMatchObject({ fault: null, bad_count: 0 });
  });
  test('should still be there is found', async () => {
    await behind(Date.now() - (DAYS - 1) * DAY);
    expect((await verify()).bad[0]?.message).toMatch(/but without a matching event$/);
  });
});
