import { beforeEach, describe, expect, test } from '@jest/globals';
import { v4 as uuidv4, v7 as uuidv7 } from 'uuid';
import { setUpFreshApp } from '../support/app/app.js';
import { ENGINE } from '../support/app/database.js';
import { databaseOf } from '../support/app/people.js';
import { DAY, HOUR, MINUTE, SealedAudit, badIdsOf, eventAt } from '../support/app/sealed-audit.js';

/**
 * Every audit row is covered by the seal of its time, or was written shortly after it. Any other row is reported, and is
 * never covered by a later seal.
 */
const app = setUpFreshApp();
const { seal, verify, execute, readSeals, insert, insertIds } = new SealedAudit(() => app);
// Deletes the events of the start, because they are later than the events of the tests.
beforeEach(() => execute('DELETE FROM audit_events'));

/** End of a past hour, which was sealed six minutes later. */
const END = Math.floor(Date.now() / HOUR) * HOUR - 5 * HOUR;
const SEALED_AT = END + 6 * MINUTE;
/** Time of the oldest possible late row. The service cannot have written an older row after this seal. */
const OLDEST = SEALED_AT - 15 * MINUTE;
const NEXT_SEAL = SEALED_AT + HOUR;

async function sealHours(): Promise<void> {
  for (const hours of [50, 3, 2, 1]) await insert(END - hours * HOUR + MINUTE, 3);
  await insert(END - MINUTE, 3);
  await seal(SEALED_AT);
  expect(await verify()).toMatchObject({ rows: 15, fault: null, bad_count: 0 });
}

/** Returns the reported ids, and expects the same ids after each later seal. */
async function readReported(): Promise<string[]> {
  const reported = badIdsOf(await verify());
  for (const hours of [0, 1, 2]) {
    await seal(NEXT_SEAL + hours * HOUR);
    expect(badIdsOf(await verify())).toEqual(reported);
  }
  return reported;
}

describe('backdated audit events', () => {
  const TOO_OLD = {
    'a millisecond too old': OLDEST - 1,
    'of the sealed hour': END - 40 * MINUTE,
    'of the hour before': END - HOUR - 1,
    'of two days ago': END - 50 * HOUR + MINUTE,
    'before the first seal': END - 400 * DAY,
    'of 1970': 1,
  };
  /** Rows that look like late rows of a slow transaction. */
  const YOUNG = {
    'as old as a late row may be': OLDEST,
    'of the last minute of the sealed hour': END - MINUTE,
    'of the hour that is not sealed': END + MINUTE,
  };
  test('are reported if too old to count as late', async () => {
    await sealHours();
    const random = Array.from({ length: 60 }, () => Math.floor(SEALED_AT - Math.random() ** 3 * 3 * HOUR));
    const times = [...Object.values(TOO_OLD), ...Object.values(YOUNG), ...random];
    const ids: string[] = [];
    for (const millis of times) ids.push(...(await insert(millis)));
    expect(await readReported()).toEqual(ids.filter((_, n) => times[n]! < OLDEST).sort());
    const { fault, bad, unsealed } = await verify();
    for (const { message } of bad)
      expect(message).toMatch(/^was not written by the service: seal \d+ covers its period/);
    expect(fault?.message).toContain(bad[0]!.id);
    expect(unsealed).toBe(0);
  });
  test('are reported even with a forged late-event entry', async () => {
    await sealHours();
    for (const number of [999_999, 0, -1, 2]) {
      const [id] = await insert(END - 40 * MINUTE);
      await execute(`INSERT INTO audit_late_events (id, seal, row_hash) VALUES (?, ?, '')`, [id!, number]);
      expect((await verify()).fault).not.toBeNull();
      await execute('DELETE FROM audit_late_events');
      await execute('DELETE FROM audit_events WHERE id = ?', [id!]);
      expect((await verify()).fault).toBeNull();
    }
  });
});

test('events of unsealed hours are not reported as inserted', async () => {
  await sealHours();
  for (const hours of [1, 5, 30, 49]) await insert(END + hours * HOUR, 3);
  const [late] = await insert(END - MINUTE);
  await seal(END + 4 * DAY);
  expect(await verify()).toMatchObject({ fault: null, late: 1, rows: 28, unsealed: 0 });
  await execute("UPDATE audit_events SET ip = 'x' WHERE id = ?", [late!]);
  expect(badIdsOf(await verify())).toEqual([late]);
});

test('a seal covers at most 10,000 late events', async () => {
  await sealHours();
  for (let part = 0; part < 3; part++) await insert(END - (part + 1) * MINUTE, 3400);
  await seal(NEXT_SEAL);
  expect((await readSeals()).slice(-2).map(({ late_count }) => late_count)).toEqual([10_000, 200]);
  expect(await verify()).toMatchObject({ fault: null, late: 10_200, unsealed: 0 });
});

describe('postdated audit events', () => {
  const now = Date.now();
  test.each([
    ['two hours', 2 * HOUR],
    ['ten hours', 10 * HOUR],
    ['400 days', 400 * DAY],
  ])('stay reported after their time has passed: %s ahead', async (_, ahead) => {
    await insert(now - 2 * HOUR, 3);
    await seal(now);
    const [id] = await insert(now + ahead);
    for (const time of [
      now,
      now + 70 * MINUTE,
      now + 140 * MINUTE,
      now + ahead + 2 * HOUR,
      now + ahead + 3 * HOUR,
    ]) {
      await seal(time);
      const result = await verify();
      expect([badIdsOf(result), result.fault?.seal]).toEqual([[id], undefined]); // the seals are valid and continue
      expect(Date.parse(`${result.newest!.sealed.replace(' ', 'T')}Z`)).toBe(time);
    }
    expect((await verify()).bad[0]?.message).toContain('it is newer than the seal');
    await execute('DELETE FROM audit_events WHERE id = ?', [id!]);
    expect((await verify()).bad[0]?.message).toContain('was removed');
  });
  test('are accepted if they are only ten minutes ahead', async () => {
    await insert(now - 2 * HOUR, 3);
    await insert(now + 10 * MINUTE);
    for (const time of [now, now + HOUR, now + 2 * HOUR]) {
      await seal(time);
      expect(badIdsOf(await verify())).toEqual([]);
    }
    expect(await verify()).toMatchObject({ rows: 4, unsealed: 0 });
  });
});

describe('invalid audit event ids', () => {
  const OF_SEALED = uuidv7({ msecs: END - 30 * MINUTE });
  const IDS = [
    '',
    ' ',
    '!',
    '~',
    'zzz',
    '00000000-0000-0000-0000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    'ffffffff-ffff-ffff-ffff-ffffffffffff~'.slice(1),
    uuidv4(),
    uuidv7({ msecs: END + MINUTE }).toUpperCase(),
    OF_SEALED.slice(0, 35),
    OF_SEALED.replace(/.$/, 'z'),
    uuidv7({ msecs: END + MINUTE }).replace(/^(.{14})7/, '$14'),
  ];
  // MariaDB accepts only one of two ids that differ only in trailing spaces.
  const SOME = IDS.filter((id) => id !== ' ');
  test('are reported', async () => {
    await sealHours();
    await insertIds(END + MINUTE, SOME);
    expect(await readReported()).toEqual(SOME.toSorted());
    for (const { message } of (await verify()).bad) expect(message).toContain('its id is invalid');
  });
  test('are reported even if inserted alone', async () => {
    await sealHours();
    for (const id of IDS) {
      await insertIds(END + MINUTE, [id]);
      expect(badIdsOf(await verify())).toEqual([id]);
      await execute('DELETE FROM audit_events WHERE id = ?', [id]);
    }
  });
  test('are all counted if hundreds are inserted', async () => {
    await sealHours();
    await insertIds(END + MINUTE, [...SOME, ...Array.from({ length: 500 }, (_, n) => `0${n}-no-id`)]);
    await insert(END + 2 * MINUTE, 5);
    await seal(NEXT_SEAL);
    const { rows, bad_count, unsealed } = await verify();
    expect({ rows, bad_count, unsealed }).toEqual({ rows: 20, bad_count: SOME.length + 500, unsealed: 0 });
  });
  if (ENGINE === 'sqlite') {
    test('are reported if they are bytes or contain NUL', async () => {
      await sealHours();
      const database = databaseOf(app);
      const [known] = await database.query<{ id: string }>('SELECT id FROM audit_events ORDER BY id');
      const insertRaw = async (sql: string) => {
        const [, ...rest] = Object.values(eventAt(END + MINUTE));
        await execute(`INSERT INTO audit_events VALUES (${sql}, ${rest.map(() => '?').join(', ')})`, rest);
      };
      await insertRaw("x'00ff'");
      await insertRaw(`CAST('${OF_SEALED}' AS BLOB)`);
      for (let n = 0; n < 450; n++) await insertRaw(`'${known!.id}' || char(0) || '${n}'`);
      await insertRaw(`substr('${OF_SEALED}', 1, 20) || char(0) || '000000000000000'`);
      await insertRaw('char(0)');
      for (const time of [SEALED_AT, NEXT_SEAL, NEXT_SEAL + HOUR]) {
        await seal(time);
        expect(await verify()).toMatchObject({ rows: 15, bad_count: 454 });
      }
    });
  }
});
