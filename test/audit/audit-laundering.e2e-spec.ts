import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { TestApp } from '../support/app/app.js';
import { databaseOf } from '../support/app/people.js';
import { DAY, HOUR, MINUTE, SealedAudit } from '../support/app/sealed-audit.js';

/** Ways to make the service itself seal what someone has forged. None is good afterwards, whatever is put back. */
const { seal, verify, execute, seals, insert } = new SealedAudit(() => app);
let app: TestApp;
let rows: string[];

const END = Math.floor(Date.now() / HOUR) * HOUR - 5 * HOUR;
const LOOK = END + 6 * MINUTE;

/** Two hours of rows, sealed at two looks: seals 1 and 2. */
beforeEach(async () => {
  app = await TestApp.start({ AUDIT_SEAL_KEY: 'a-key-for-seals-of-32-characters-1' });
  await execute('DELETE FROM audit_events');
  rows = await insert(END - HOUR - MINUTE, 3);
  await seal(LOOK - HOUR);
  rows.push(...(await insert(END - 30 * MINUTE, 3)));
  await seal(LOOK);
  expect(await verify()).toMatchObject({ rows: 6, seals: 2, fault: null });
});
afterEach(() => app.end());

const column = async (name: string, number: number) => {
  const [found] = await databaseOf(app).query<{ value: string | number }>(
    `SELECT ${name} AS value FROM audit_seals WHERE number = ?`,
    [number],
  );
  return found!.value;
};
const nextLook = () => seal(LOOK + HOUR);
const isBad = async () => expect((await verify()).fault).not.toBeNull();

/** Changes a seal, lets the service seal, and puts the old value back. */
async function around(name: string, number: number, value: string | number | null): Promise<void> {
  const before = await column(name, number);
  await execute(`UPDATE audit_seals SET ${name} = ? WHERE number = ?`, [value, number]);
  await nextLook();
  await execute(`UPDATE audit_seals SET ${name} = ? WHERE number = ?`, [before, number]);
}
const OLD_LOOK = new Date(END - 3 * DAY).toISOString().replace('T', ' ').slice(0, 23);

test.each([
  ['looks of long ago, so that an old row seems late', 'sealed', OLD_LOOK],
  ['another end of its range', 'until_id', uuidv7({ msecs: END - 45 * MINUTE })],
  ['no members', 'members', ''],
  ['fewer rows', 'row_count', 2],
  ['another hash', 'hash', 'f'.repeat(64)],
])('the newest seal has %s while the service makes the next one', async (_, name, value) => {
  await insert(END - 40 * MINUTE);
  await around(name, 2, value);
  await isBad();
  await seal(LOOK + 2 * HOUR);
  await isBad();
});

test('an entry for a late row is there before its seal is made', async () => {
  const [id] = await insert(END - 40 * MINUTE);
  await execute("INSERT INTO audit_late_events (id, seal, row_hash) VALUES (?, 3, '')", [id!]);
  await isBad();
  await nextLook();
  await isBad();
});

test.each([
  [0, 1],
  [0, 4],
])('the ids of rows %d and %d are swapped', async (one, other) => {
  const [a, b] = [rows[one]!, rows[other]!];
  const spare = uuidv7({ msecs: END });
  await execute('UPDATE audit_events SET id = ? WHERE id = ?', [spare, a]);
  await execute('UPDATE audit_events SET id = ? WHERE id = ?', [a, b]);
  await execute('UPDATE audit_events SET id = ? WHERE id = ?', [b, spare]);
  await nextLook();
  await isBad();
});

test.each([1, 3 * MINUTE, HOUR, 3 * HOUR])(
  'the time of a row and of its id are moved on by %d ms',
  async (by) => {
    const millis = END - 30 * MINUTE + by;
    await execute('UPDATE audit_events SET id = ?, time = ? WHERE id = ?', [
      uuidv7({ msecs: millis }),
      new Date(millis).toISOString().replace('T', ' ').slice(0, 23),
      rows[4]!,
    ]);
    await isBad();
    await nextLook();
    await isBad();
  },
);

test.each([3, 7])('a seal is there twice, the copy as number %d', async (number) => {
  await nextLook();
  const [, second] = await seals();
  await execute('DELETE FROM audit_seals WHERE number = ?', [number]);
  await execute(
    `INSERT INTO audit_seals (number, sealed, until_id, row_count, rows_hash, late_count, late_hash, purged, key_id, hash, members, members_hash)
     SELECT ?, sealed, until_id, row_count, rows_hash, late_count, late_hash, purged, key_id, hash, members, members_hash
     FROM audit_seals WHERE number = ?`,
    [number, second!.number],
  );
  await isBad();
  await seal(LOOK + 2 * HOUR);
  await isBad();
});
