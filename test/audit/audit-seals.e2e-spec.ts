import { describe, expect, test } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { AuditSealRepository } from '../../src/audit/audit-seal.repository.js';
import { Sealer } from '../../src/audit/sealer.service.js';
import { PurgeService } from '../../src/operations/start/purge.service.js';
import { TestApp, setUpFreshApp } from '../support/app/app.js';
import { ENGINE } from '../support/app/database.js';
import { create } from '../support/data/factories.js';
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

/** Verification finds changes after a seal, and reports nothing in an unchanged audit. */
const KEY = 'a-key-for-seals-of-32-characters-1';
const NEW_KEY = 'a-key-for-seals-of-32-characters-2';

const app = setUpFreshApp({ AUDIT_RETENTION_DAYS: '30' });
const { seal, verify, execute, readSeals, insert, sealHours } = new SealedAudit(() => app);

test('an unchanged audit passes verification', async () => {
  await create(app.key); // also records the first use of the key
  await sealHours();
  expect((await readSeals()).map(({ row_count }) => row_count).slice(0, 3)).toEqual([4, 4, 4]);
  const result = await verify();
  expect(result).toMatchObject({ rows: 12, late: 0, fault: null });
  const before = await readSeals();
  await seal(Date.now()); // nothing new to seal
  expect(await readSeals()).toEqual(before);
  await create(app.key);
  expect((await verify()).unsealed).toBe(result.unsealed + 1);
});

test('every hour gets a seal, even without events', async () => {
  await sealHours();
  const count = (await readSeals()).length;
  await seal(sealTimeAfter(1));
  expect((await readSeals()).length).toBeGreaterThan(count);
  await seal(sealTimeAfter(2));
  expect((await readSeals()).at(-1)?.row_count).toBe(0);
  expect((await verify()).fault).toBeNull();
});

test('an hour is sealed five minutes after its end', async () => {
  await execute('DELETE FROM audit_events');
  const end = Math.floor(Date.now() / HOUR) * HOUR - 2 * HOUR;
  await insert(end - MINUTE, 3);
  await seal(end + 5 * MINUTE - 1);
  expect((await verify()).unsealed).toBe(3);
  await seal(end + 5 * MINUTE);
  expect(await verify()).toMatchObject({ rows: 3, unsealed: 0, fault: null });
});

describe('late audit events', () => {
  /** End of an hour, and the time of its seal. */
  const END = Math.floor(Date.now() / HOUR) * HOUR - 2 * HOUR;
  const SEALED_AT = END + 6 * MINUTE;
  const sealHour = async () => {
    await execute('DELETE FROM audit_events'); // events recorded by the start, which are later
    await insert(END - HOUR - MINUTE, 3);
    await insert(END - 5 * MINUTE, 3);
    await seal(SEALED_AT);
  };
  test('are covered by the next seal', async () => {
    await sealHour();
    const [late] = await insert(END - 5 * MINUTE + 5);
    expect(await verify()).toMatchObject({ fault: null, unsealed: 1, late: 0 });
    await seal(SEALED_AT + HOUR);
    expect(await verify()).toMatchObject({ fault: null, unsealed: 0, late: 1 });
    await seal(SEALED_AT + 2 * HOUR); // seals the late event only once
    expect((await readSeals()).reduce((sum, { late_count }) => sum + late_count, 0)).toBe(1);
    expect((await verify()).late).toBe(1);
    await execute("UPDATE audit_events SET ip = 'changed' WHERE id = ?", [late!]);
    expect((await verify()).bad).toEqual([{ id: late, message: expect.stringMatching(/^was changed/) }]);
    await execute('DELETE FROM audit_events WHERE id = ?', [late!]);
    expect((await verify()).bad).toEqual([{ id: late, message: expect.stringMatching(/^was removed/) }]);
  });
  test('of a slow transaction are covered by the next seal', async () => {
    await sealHour();
    const other = await TestApp.startOn(app.database);
    const open = await databaseOf(app).begin();
    const end = END + HOUR;
    await insertEvents(open, [eventAt(end - MINUTE)]);
    try {
      // On SQLite, which has one writer, a seal waits for the transaction, so no event is late.
      const sealed = other.app.get(Sealer).sealEndedHours(end + 6 * MINUTE);
      if (ENGINE === 'mariadb') await sealed;
      await open.commit();
      await sealed;
      expect((await verify()).fault).toBeNull();
      await seal(end + HOUR + 6 * MINUTE);
      expect(await verify()).toMatchObject({ fault: null, rows: 7, unsealed: 0 });
      if (ENGINE === 'mariadb') expect((await verify()).late).toBe(1);
    } finally {
      await other.stop();
    }
  });
});

describe('audit retention', () => {
  test('deletes old events in batches', async () => {
    await insert(Date.now() - 31 * DAY, 600);
    await insert(Date.now() - 29 * DAY, 5);
    await app.app.get(PurgeService).purgeAll();
    const before = [uuidv7({ msecs: Date.now() - 30 * DAY })];
    expect(await databaseOf(app).query('SELECT id FROM audit_events WHERE id < ?', before)).toEqual([]);
    expect(await verify()).toMatchObject({ rows: 5, purged: 1, fault: null });
  });
  test('keeps the whole hour in which the period begins', async () => {
    const begin = Math.floor((Date.now() - 30 * DAY) / HOUR) * HOUR;
    const ids = await insert(begin + 1, 5);
    await app.app.get(PurgeService).purgeAll();
    const remaining = await databaseOf(app).query<{ id: string }>(
      'SELECT id FROM audit_events WHERE id <= ? ORDER BY id',
      [ids[4]!],
    );
    expect(remaining.map(({ id }) => id)).toEqual(ids);
    expect(await verify()).toMatchObject({ rows: 5, fault: null });
  });
  test('does not hide the deletion of a newer event', async () => {
    const [, , third] = await insert(Date.now() - 29 * DAY, 5);
    await insert(Date.now() - 31 * DAY, 5);
    await app.app.get(PurgeService).purgeAll();
    await execute('DELETE FROM audit_events WHERE id = ?', [third!]);
    expect((await verify()).fault).toMatchObject({ seal: 2, message: expect.stringContaining('removed') });
  });
});

describe('a seal created during verification', () => {
  test.each(['findMemberText', 'findLateIds', 'findInvalidEventIds', 'findUnknownLateIds'])(
    'is not a fault if it is created before the query %s',
    async (method) => {
      await sealHours();
      const spied: Partial<Record<string, () => Promise<unknown>>> = app.app.get<object>(AuditSealRepository);
      const real = spied[method]!.bind(spied);
      let calls = 0;
      spied[method] = async (...args: []) => {
        if (++calls === 1) await seal(sealTimeAfter());
        return real(...args);
      };
      const before = await readSeals();
      expect(await verify()).toMatchObject({ seals: before.length, rows: 12, fault: null, bad: [] });
      expect(calls).toBeGreaterThan(0);
      expect((await readSeals()).length).toBeGreaterThan(before.length);
      spied[method] = real;
      expect(await verify()).toMatchObject({ fault: null, bad: [] });
    },
  );
});

describe('AUDIT_SEAL_KEY', () => {
  const restart = async (keys: string) => {
    await app.stop();
    Object.assign(app, await TestApp.startOn(app.database, { AUDIT_SEAL_KEY: keys }));
  };
  test('reveals a chain of seals rebuilt without the key', async () => {
    await restart(KEY);
    await sealHours();
    expect((await verify()).newest?.keyed).toBe(true);
    await restart('');
    expect((await verify()).fault?.message).toContain('AUDIT_SEAL_KEY');
    await execute('DELETE FROM audit_seals');
    await execute("UPDATE audit_events SET ip = '192.0.2.9'");
    await seal(Date.now());
    expect((await verify()).fault).toBeNull();
    await restart(KEY);
    expect((await verify()).fault?.message).toContain('without the key');
  });
  test('can be changed if the new value contains the old key', async () => {
    await restart(KEY);
    await sealHours();
    await restart(`${NEW_KEY},${KEY}`);
    await seal(sealTimeAfter());
    expect((await verify()).fault).toBeNull();
    await restart(NEW_KEY);
    expect((await verify()).fault?.message).toContain('AUDIT_SEAL_KEY');
  });
});

test('the metrics contain the time of the newest audit seal', async () => {
  const readMetric = async () =>
    Number(
      /^rollcall_audit_last_seal_timestamp_seconds (\d+)/m.exec(
        (await app.guest.fetch('GET', '/metrics')).text,
      )?.[1],
    );
  expect(await readMetric()).toBe(0);
  await sealHours();
  expect(Math.abs((await readMetric()) - Date.now() / 1000)).toBeLessThan(60);
});
