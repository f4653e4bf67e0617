import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { AuditSealRepository } from '../../src/audit/audit-seal.repository.js';

import { SealedRowsRepository } from '../../src/audit/sealed-rows.repository.js';
import { Sealer } from '../../src/audit/sealer.service.js';
import { PurgeService } from '../../src/operations/start/purge.service.js';
import { TestApp } from '../support/app/app.js';
import { ENGINE } from '../support/app/database.js';
import { create } from '../support/data/factories.js';
import { databaseOf } from '../support/app/people.js';
import {
  DAY,
  HOUR,
  MINUTE,
  SealedAudit,
  afterHours,
  eventAt,
  insertEvents,
} from '../support/app/sealed-audit.js';

/** Seals over the audit: what is changed afterwards is found, and what is not is not reported. */
const KEY = 'a-key-for-seals-of-32-characters-1';
const NEW_KEY = 'a-key-for-seals-of-32-characters-2';

let app: TestApp;
beforeEach(async () => void (app = await TestApp.start({ AUDIT_RETENTION_DAYS: '30' })));
afterEach(() => app.end());

const { seal, verify, execute, seals, insert, sealedHours } = new SealedAudit(() => app);

test('every hour gets a seal, and an untouched audit fits them', async () => {
  await create(app.key); // with the first use of the key
  await sealedHours();
  expect((await seals()).map(({ row_count }) => row_count).slice(0, 3)).toEqual([4, 4, 4]);
  const verdict = await verify();
  expect(verdict).toMatchObject({ rows: 12, late: 0, fault: null });
  const before = await seals();
  await seal(Date.now()); // nothing new to seal
  expect(await seals()).toEqual(before);
  await create(app.key);
  expect((await verify()).unsealed).toBe(verdict.unsealed + 1);
});

test('the hours go on from one seal to the next, also those without an event', async () => {
  await sealedHours();
  const made = (await seals()).length;
  await seal(afterHours(1));
  const more = await seals();
  expect(more.length).toBeGreaterThan(made);
  await seal(afterHours(2));
  expect((await seals()).at(-1)?.row_count).toBe(0);
  expect((await verify()).fault).toBeNull();
});

test('an hour is sealed five minutes after its end, when its transactions have ended', async () => {
  await execute('DELETE FROM audit_events');
  const end = Math.floor(Date.now() / HOUR) * HOUR - 2 * HOUR;
  await insert(end - MINUTE, 3);
  await seal(end + 5 * MINUTE - 1);
  expect((await verify()).unsealed).toBe(3);
  await seal(end + 5 * MINUTE);
  expect(await verify()).toMatchObject({ rows: 3, unsealed: 0, fault: null });
});

describe('rows that become visible after the seal of their hour', () => {
  /** The end of an hour, and the look at the audit behind it. */
  const END = Math.floor(Date.now() / HOUR) * HOUR - 2 * HOUR;
  const LOOK = END + 6 * MINUTE;
  const sealedHour = async () => {
    await execute('DELETE FROM audit_events'); // of the start, which is later
    await insert(END - HOUR - MINUTE, 3);
    await insert(END - 5 * MINUTE, 3);
    await seal(LOOK);
  };
  test('are neither missed nor reported', async () => {
    await sealedHour();
    const [late] = await insert(END - 5 * MINUTE + 5);
    expect(await verify()).toMatchObject({ fault: null, unsealed: 1, late: 0 });
    await seal(LOOK + HOUR);
    expect(await verify()).toMatchObject({ fault: null, unsealed: 0, late: 1 });
    await seal(LOOK + 2 * HOUR); // once only
    expect((await seals()).reduce((sum, { late_count }) => sum + late_count, 0)).toBe(1);
    expect((await verify()).late).toBe(1);
    await execute("UPDATE audit_events SET ip = 'changed' WHERE id = ?", [late!]);
    expect((await verify()).bad).toEqual([{ id: late, message: expect.stringMatching(/^was changed/) }]);
    await execute('DELETE FROM audit_events WHERE id = ?', [late!]);
    expect((await verify()).bad).toEqual([{ id: late, message: expect.stringMatching(/^was removed/) }]);
  });
  test('of a transaction that is open across a seal', async () => {
    await sealedHour();
    const other = await TestApp.on(app.database);
    const open = await databaseOf(app).begin();
    const end = END + HOUR;
    await insertEvents(open, [eventAt(end - MINUTE)]);
    try {
      // SQLite has one writer: there a seal waits for the transaction, and no row can come late.
      const sealed = other.app.get(Sealer).run(end + 6 * MINUTE);
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

describe('retention', () => {
  test('deletes what a seal has announced, batch by batch, and the rest still verifies', async () => {
    await insert(Date.now() - 31 * DAY, 600);
    await insert(Date.now() - 29 * DAY, 5);
    await app.app.get(PurgeService).run();
    const before = [uuidv7({ msecs: Date.now() - 30 * DAY })];
    expect(await databaseOf(app).query('SELECT id FROM audit_events WHERE id < ?', before)).toEqual([]);
    expect(await verify()).toMatchObject({ rows: 5, purged: 1, fault: null });
  });
  test('deletes nothing that no seal has announced: the hour in which the days end stays whole', async () => {
    const begin = Math.floor((Date.now() - 30 * DAY) / HOUR) * HOUR;
    const ids = await insert(begin + 1, 5);
    await app.app.get(PurgeService).run();
    const kept = await databaseOf(app).query<{ id: string }>(
      'SELECT id FROM audit_events WHERE id <= ? ORDER BY id',
      [ids[4]!],
    );
    expect(kept.map(({ id }) => id)).toEqual(ids);
    expect(await verify()).toMatchObject({ rows: 5, fault: null });
  });
  test('covers no row that is younger', async () => {
    const [, , third] = await insert(Date.now() - 29 * DAY, 5);
    await insert(Date.now() - 31 * DAY, 5);
    await app.app.get(PurgeService).run();
    await execute('DELETE FROM audit_events WHERE id = ?', [third!]);
    expect((await verify()).fault).toMatchObject({ seal: 2, message: expect.stringContaining('removed') });
  });
});

describe('a seal that is made while they are compared', () => {
  test.each([
    [AuditSealRepository, 'membersOf'],
    [AuditSealRepository, 'lateIn'],
    [SealedRowsRepository, 'oddIds'],
    [AuditSealRepository, 'unknownLate'],
  ] as const)('at %p %s is not reported', async (type, method) => {
    await sealedHours();
    const spied: Partial<Record<string, () => Promise<unknown>>> = app.app.get<object>(type);
    const real = spied[method]!.bind(spied);
    let calls = 0;
    spied[method] = async (...args: []) => {
      if (++calls === 1) await seal(afterHours());
      return real(...args);
    };
    const before = await seals();
    expect(await verify()).toMatchObject({ seals: before.length, rows: 12, fault: null, bad: [] });
    expect(calls).toBeGreaterThan(0);
    expect((await seals()).length).toBeGreaterThan(before.length);
    spied[method] = real;
    expect(await verify()).toMatchObject({ fault: null, bad: [] });
  });
});

describe('keys', () => {
  const restart = async (keys: string) => {
    await app.stop();
    app = await TestApp.on(app.database, { AUDIT_SEAL_KEY: keys });
  };
  test('who does not know the key cannot make a chain anew', async () => {
    await restart(KEY);
    await sealedHours();
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
  test('a new key goes on with the chain, and the old one still verifies its seals', async () => {
    await restart(KEY);
    await sealedHours();
    await restart(`${NEW_KEY},${KEY}`);
    await seal(afterHours());
    expect((await verify()).fault).toBeNull();
    await restart(NEW_KEY);
    expect((await verify()).fault?.message).toContain('AUDIT_SEAL_KEY');
  });
});

test('metrics say when the newest seal was made', async () => {
  const read = async () =>
    Number(
      /^rollcall_audit_last_seal_timestamp_seconds (\d+)/m.exec(
        (await app.nobody.raw('GET', '/metrics')).text,
      )?.[1],
    );
  expect(await read()).toBe(0);
  await sealedHours();
  expect(Math.abs((await read()) - Date.now() / 1000)).toBeLessThan(60);
});
