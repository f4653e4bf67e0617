import { beforeEach, expect, test } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { setUpFreshApp } from '../support/app/app.js';
import { databaseOf } from '../support/app/people.js';
import { DAY, HOUR, MINUTE, SealedAudit } from '../support/app/sealed-audit.js';

/** Attempts to make the service seal forged rows. Verification finds each of them, even if old values are restored. */
const app = setUpFreshApp({ AUDIT_SEAL_KEY: 'a-key-for-seals-of-32-characters-1' });
const { seal, verify, execute, readSeals, insert } = new SealedAudit(() => app);
let rows: string[];

const END = Math.floor(Date.now() / HOUR) * HOUR - 5 * HOUR;
const SEALED_AT = END + 6 * MINUTE;

/** Inserts two hours of events with the seals 1 and 2. */
beforeEach(async () => {
  await execute('DELETE FROM audit_events');
  rows = await insert(END - HOUR - MINUTE, 3);
  await seal(SEALED_AT - HOUR);
  rows.push(...(await insert(END - 30 * MINUTE, 3)));
  await seal(SEALED_AT);
  expect(await verify()).toMatchObject({ rows: 6, seals: 2, fault: null });
});

const readColumn = async (name: string, number: number) => {
  const [found] = await databaseOf(app).query<{ value: string | number }>(
    `SELECT ${name} AS value FROM audit_seals WHERE number = ?`,
    [number],
  );
  return found!.value;
};
const sealNext = () => seal(SEALED_AT + HOUR);
const expectFault = async () => expect((await verify()).fault).not.toBeNull();

/** Changes a seal, creates the next seal, and restores the old value. */
async function sealWithChange(name: string, number: number, value: string | number | null): Promise<void> {
  const before = await readColumn(name, number);
  await execute(`UPDATE audit_seals SET ${name} = ? WHERE number = ?`, [value, number]);
  await sealNext();
  await execute(`UPDATE audit_seals SET ${name} = ? WHERE number = ?`, [before, number]);
}
const OLD_TIME = new Date(END - 3 * DAY).toISOString().replace('T', ' ').slice(0, 23);

test.each([
  ['a forged time', 'sealed', OLD_TIME],
  ['a forged end of its period', 'until_id', uuidv7({ msecs: END - 45 * MINUTE })],
  ['an empty list of events', 'members', ''],
  ['a forged number of events', 'row_count', 2],
  ['a forged hash', 'hash', 'f'.repeat(64)],
])('audit verification fails if seal 3 follows a seal with %s', async (_, name, value) => {
  await insert(END - 40 * MINUTE);
  await sealWithChange(name, 2, value);
  await expectFault();
  await seal(SEALED_AT + 2 * HOUR);
  await expectFault();
});

test('audit verification fails if an old event has a forged late-event entry', async () => {
  const [id] = await insert(END - 40 * MINUTE);
  await execute("INSERT INTO audit_late_events (id, seal, row_hash) VALUES (?, 3, '')", [id!]);
  await expectFault();
  await sealNext();
  await expectFault();
});

test.each([
  [0, 1],
  [0, 4],
])('audit verification fails if the ids of events %d and %d were swapped', async (one, other) => {
  const [a, b] = [rows[one]!, rows[other]!];
  const spare = uuidv7({ msecs: END });
  await execute('UPDATE audit_events SET id = ? WHERE id = ?', [spare, a]);
  await execute('UPDATE audit_events SET id = ? WHERE id = ?', [a, b]);
  await execute('UPDATE audit_events SET id = ? WHERE id = ?', [b, spare]);
  await sealNext();
  await expectFault();
});

test.each([1, 3 * MINUTE, HOUR, 3 * HOUR])(
  'audit verification fails if a sealed event was moved by %d ms',
  async (by) => {
    const millis = END - 30 * MINUTE + by;
    await execute('UPDATE audit_events SET id = ?, time = ? WHERE id = ?', [
      uuidv7({ msecs: millis }),
      new Date(millis).toISOString().replace('T', ' ').slice(0, 23),
      rows[4]!,
    ]);
    await expectFault();
    await sealNext();
    await expectFault();
  },
);

test.each([3, 7])('audit verification fails if seal %d is a copy of seal 2', async (number) => {
  await sealNext();
  const [, second] = await readSeals();
  await execute('DELETE FROM audit_seals WHERE number = ?', [number]);
  await execute(
    `INSERT INTO audit_seals (number, sealed, until_id, row_count, rows_hash, late_count, late_hash, purged, key_id, hash, members, members_hash)
     SELECT ?, sealed, until_id, row_count, rows_hash, late_count, late_hash, purged, key_id, hash, members, members_hash
     FROM audit_seals WHERE number = ?`,
    [number, second!.number],
  );
  await expectFault();
  await seal(SEALED_AT + 2 * HOUR);
  await expectFault();
});
