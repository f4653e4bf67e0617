import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DatabaseError } from '../../src/platform/database/engine/database-error.js';
import type { SqlValue } from '../../src/platform/database/engine/sql.js';
import { TestApp } from '../support/app/app.js';
import { ENGINE, createDatabase, onMariadb } from '../support/app/database.js';
import { databaseOf } from '../support/app/people.js';

/** Number of rows from which MariaDB loads them as a stream, if it permits streams. */
const MANY = 60;
const TABLE = { name: 'many_rows', columns: ['id', 'name', 'note', 'day'] };
const DAY = '2026-01-02 03:04:05.678';

let app: TestApp;
beforeAll(async () => {
  app = await TestApp.startOn(await createDatabase());
  await databaseOf(app).execute(
    `CREATE TABLE many_rows (id int NOT NULL PRIMARY KEY, name varchar(40) NOT NULL, note varchar(40), day datetime(3))${ENGINE === 'sqlite' ? '' : ' CHARACTER SET utf8mb4 COLLATE utf8mb4_bin'}`,
  );
});
afterAll(() => app.end());

type Row = { id: number; name: string; note: string | null; day: string | null };

/** Inserts rows in a transaction, reads the rows of the table and rolls the transaction back. */
async function insertAndRead(rows: readonly SqlValue[][]): Promise<Row[]> {
  const tx = await databaseOf(app).begin();
  try {
    await tx.insert(TABLE, rows);
    return await tx.query<Row>('SELECT id, name, note, day FROM many_rows ORDER BY id');
  } finally {
    await tx.rollback();
  }
}

const aRow = (id: number): SqlValue[] => [id, `name ${id}`, null, DAY];
const fillUp = (rows: readonly SqlValue[][]): SqlValue[][] => [
  ...rows,
  ...Array.from({ length: MANY - rows.length }, (_, index) => aRow(1000 + index)),
];

test('a bulk insert stores delimiters, escapes and control characters unchanged', async () => {
  const pieces = ['\\', '\\N', '\\n', '\t', '\n', '\r', "'", '"', '\u001a', 'NULL', ' ', 'é', '\u{1F600}'];
  const text = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((parts) => parts.join(''));
  const note = fc.option(text, { nil: null });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(text, note), { minLength: 1, maxLength: 20 }), async (values) => {
      const rows = fillUp(values.map(([name, other], id) => [id, name, other, DAY]));
      const expected = rows.map(([id, name, other, day]) => ({ id, name, note: other, day }));
      expect(await insertAndRead(rows)).toEqual(expected);
    }),
    { numRuns: 40 },
  );
});

test('a bulk insert with a duplicate key stores no row', async () => {
  const rows = fillUp([aRow(7), aRow(8), aRow(7)]);
  await expect(insertAndRead(rows)).rejects.toMatchObject({ fault: 'duplicate' });
  await expect(insertAndRead(rows)).rejects.toBeInstanceOf(DatabaseError);
  expect(await databaseOf(app).query('SELECT id FROM many_rows')).toEqual([]);
});

test('a bulk insert with NUL or a lone surrogate is rejected', async () => {
  await expect(insertAndRead(fillUp([[7, 'a\0b', null, DAY]]))).rejects.toThrow();
  await expect(insertAndRead(fillUp([[7, '\ud800', null, DAY]]))).rejects.toThrow();
  expect(await insertAndRead(fillUp([]))).toHaveLength(MANY);
});

/** SQLite stores any value in any column. */
onMariadb.each([
  ['a text that is too long', [7, 'x'.repeat(41), null, DAY]],
  ['null in a NOT NULL column', [7, null, null, DAY]],
  ['a text in a number column', ['seven', 'x', null, DAY]],
  ['a number that is too large', [2 ** 40, 'x', null, DAY]],
  ['a day that does not exist', [7, 'x', null, '2026-02-31 00:00:00.000']],
])('a bulk insert with %s is rejected, and the value is not converted', async (_, row: SqlValue[]) => {
  await expect(insertAndRead(fillUp([row]))).rejects.toThrow(/rows were loaded, with warnings/);
});

onMariadb('a bulk insert uses INSERT statements if the server has local_infile disabled', async () => {
  const database = databaseOf(app);
  const rows = fillUp([[7, 'back\\slash', null, DAY]]);
  await database.execute('SET GLOBAL local_infile = 0');
  try {
    expect(await insertAndRead(rows)).toHaveLength(MANY);
    await expect(insertAndRead(fillUp([aRow(7), aRow(7)]))).rejects.toMatchObject({ fault: 'duplicate' });
  } finally {
    await database.execute('SET GLOBAL local_infile = 1');
  }
});
