import { beforeAll, expect, test } from '@jest/globals';
import type { Database } from '../../src/platform/database/engine/database.js';
import type { Sql } from '../../src/platform/database/engine/sql.js';
import { TransactionRunner } from '../../src/platform/database/transaction-runner.js';
import { ENGINE } from '../support/app/database.js';
import { setUpApp } from '../support/app/app.js';
import { databaseOf } from '../support/app/people.js';

/** Isolation of transactions, which TypeORM alone does not provide on one SQLite connection. */
const app = setUpApp();
let database: Database;
let transactions: TransactionRunner;
beforeAll(() => {
  database = databaseOf(app);
  transactions = app.app.get(TransactionRunner);
});

const insert = (sql: Sql, name: string) =>
  sql.execute("INSERT INTO user_identifiers (identifier, user_uuid) VALUES (?, '')", [name]);
/** Lists names with a prefix. Uses a range as the search does, because LIKE in MariaDB misses characters beyond U+FFFF. */
const listNames = async (beginning: string) => {
  const rows = await database.query<{ name: string }>(
    'SELECT identifier AS name FROM user_identifiers WHERE identifier >= ? AND identifier < ? ORDER BY identifier',
    [beginning, `${beginning}\u{10FFFF}`],
  );
  return rows.map(({ name }) => name);
};

test('a rollback does not undo a concurrent transaction', async () => {
  // A barrier for each of two transactions.
  const first = Promise.withResolvers<undefined>();
  const second = Promise.withResolvers<undefined>();
  const failing = transactions.run(async (tx) => {
    await insert(tx, 'barrier-lost');
    first.resolve(undefined);
    // If transactions run one by one, the second cannot reach its barrier while the first is open.
    await Promise.race([second.promise, new Promise((resolve) => setImmediate(resolve))]);
    throw new Error('rolled back on purpose');
  });
  const succeeding = first.promise.then(() =>
    transactions.run(async (tx) => {
      await insert(tx, 'barrier-kept');
      second.resolve(undefined);
    }),
  );
  await expect(failing).rejects.toThrow('rolled back on purpose');
  await succeeding;
  expect(await listNames('barrier-')).toEqual(['barrier-kept']);
});

test('statements outside a transaction do not see uncommitted changes', async () => {
  const written = Promise.withResolvers<undefined>();
  const open = transactions.run(async (tx) => {
    await insert(tx, 'dirty-1');
    written.resolve(undefined);
    await new Promise((resolve) => setImmediate(resolve));
    throw new Error('rolled back on purpose');
  });
  await written.promise;
  const seen = listNames('dirty-');
  const alone = insert(database, 'dirty-2');
  await expect(open).rejects.toThrow('rolled back on purpose');
  await alone;
  expect((await seen).filter((name) => name === 'dirty-1')).toEqual([]);
  expect(await listNames('dirty-')).toEqual(['dirty-2']);
});

test('a transaction with a duplicate key is attempted at most 12 times', async () => {
  await insert(database, 'race-1');
  let attempts = 0;
  await transactions.run(async (tx) => {
    attempts++;
    await insert(tx, attempts === 1 ? 'race-1' : 'race-2');
  });
  expect(attempts).toBe(2);
  expect(await listNames('race-')).toEqual(['race-1', 'race-2']);

  attempts = 0;
  const hopeless = transactions.run(async (tx) => {
    attempts++;
    await insert(tx, 'race-1');
  });
  await expect(hopeless).rejects.toMatchObject({ code: 'unavailable' });
  expect(attempts).toBe(12);
});

test('concurrent transactions store rows only if they commit', async () => {
  const runs = Array.from({ length: 100 }, (_, index) =>
    transactions.run(async (tx) => {
      await insert(tx, `storm-${String(index).padStart(3, '0')}`);
      if (index % 10 === 9) throw new Error('rolled back on purpose');
    }),
  );
  expect((await Promise.allSettled(runs)).filter(({ status }) => status === 'rejected')).toHaveLength(10);
  expect(await listNames('storm-')).toHaveLength(90);
});

test.each([
  ['a boolean', true],
  ['undefined', undefined],
  ['NaN', Number.NaN],
  ['a text with NUL', 'cut\0off'],
  ['an object', {}],
])('%s is rejected as an SQL parameter', async (_, value) => {
  await expect(database.query('SELECT ? AS x', [value as never])).rejects.toThrow(
    /parameter 1 .* cannot be bound/,
  );
});

test('a repeated SQL statement uses the new parameter values', async () => {
  for (const name of ['values-a', 'values-b']) await insert(database, name);
  const sql = 'SELECT identifier AS name FROM user_identifiers WHERE identifier = ?';
  expect(await database.query(sql, ['values-b'])).toEqual([{ name: 'values-b' }]);
  expect(await database.queryOne(sql, ['values-a'])).toEqual({ name: 'values-a' });
  expect(await database.query(sql, ['values-b'])).toEqual([{ name: 'values-b' }]);
});

test('the database compares text byte by byte', async () => {
  for (const name of ['José', 'jose', 'Jose', 'josé', '😀', '😁', 'ﷺ', 'ß'])
    await insert(database, `text-${name}`);
  expect(await listNames('text-')).toHaveLength(8);
  const exact = await database.query('SELECT identifier AS name FROM user_identifiers WHERE identifier = ?', [
    'text-jose',
  ]);
  expect(exact).toEqual([{ name: 'text-jose' }]);
});

test(`the database settings make committed changes durable (${ENGINE})`, async () => {
  if (ENGINE === 'sqlite') {
    const [row] = await database.query<{ synchronous: number }>('PRAGMA synchronous');
    const [mode] = await database.query<{ journal_mode: string }>('PRAGMA journal_mode');
    expect([row?.synchronous, mode?.journal_mode]).toEqual([2, 'wal']);
  } else {
    const [row] = await database.query<{ mode: string }>('SELECT @@SESSION.sql_mode AS mode');
    expect(row?.mode).toContain('STRICT_ALL_TABLES');
  }
});
