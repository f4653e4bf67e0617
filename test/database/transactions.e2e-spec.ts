import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DATABASE, type Database } from '../../src/platform/database/engine/database.js';
import type { Sql } from '../../src/platform/database/engine/sql.js';
import { TransactionRunner } from '../../src/platform/database/transaction-runner.js';
import { ENGINE } from '../support/app/database.js';
import { TestApp } from '../support/app/app.js';

/** What TypeORM alone does not provide on one SQLite connection: transactions isolated from each other. */
let app: TestApp;
let database: Database;
let transactions: TransactionRunner;
beforeAll(async () => {
  app = await TestApp.start();
  database = app.app.get(DATABASE);
  transactions = app.app.get(TransactionRunner);
});
afterAll(() => app.end());

const insert = (sql: Sql, name: string) =>
  sql.execute("INSERT INTO user_identifiers (identifier, user_uuid) VALUES (?, '')", [name]);
/** Names with a beginning, by a range as the search does: MariaDB's LIKE misses characters beyond U+FFFF. */
const names = async (beginning: string) => {
  const rows = await database.query<{ name: string }>(
    'SELECT identifier AS name FROM user_identifiers WHERE identifier >= ? AND identifier < ? ORDER BY identifier',
    [beginning, `${beginning}\u{10FFFF}`],
  );
  return rows.map(({ name }) => name);
};

test('a transaction that rolls back takes nothing of another one with it', async () => {
  // A barrier for each of two transactions.
  const first = Promise.withResolvers<undefined>();
  const second = Promise.withResolvers<undefined>();
  const failing = transactions.run(async (tx) => {
    await insert(tx, 'barrier-lost');
    first.resolve(undefined);
    // Where transactions run one by one, the other one cannot reach its barrier while this one is open.
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
  expect(await names('barrier-')).toEqual(['barrier-kept']);
});

test('uncommitted changes are invisible, and no single statement joins their transaction', async () => {
  const written = Promise.withResolvers<undefined>();
  const open = transactions.run(async (tx) => {
    await insert(tx, 'dirty-1');
    written.resolve(undefined);
    await new Promise((resolve) => setImmediate(resolve));
    throw new Error('rolled back on purpose');
  });
  await written.promise;
  const seen = names('dirty-');
  const alone = insert(database, 'dirty-2');
  await expect(open).rejects.toThrow('rolled back on purpose');
  await alone;
  expect((await seen).filter((name) => name === 'dirty-1')).toEqual([]);
  expect(await names('dirty-')).toEqual(['dirty-2']);
});

test('after a lost race the work runs again, a limited number of times', async () => {
  await insert(database, 'race-1');
  let attempts = 0;
  await transactions.run(async (tx) => {
    attempts++;
    await insert(tx, attempts === 1 ? 'race-1' : 'race-2');
  });
  expect(attempts).toBe(2);
  expect(await names('race-')).toEqual(['race-1', 'race-2']);

  attempts = 0;
  const hopeless = transactions.run(async (tx) => {
    attempts++;
    await insert(tx, 'race-1');
  });
  await expect(hopeless).rejects.toMatchObject({ code: 'unavailable' });
  expect(attempts).toBe(12);
});

test('a hundred transactions at once all leave their row', async () => {
  const runs = Array.from({ length: 100 }, (_, index) =>
    transactions.run(async (tx) => {
      await insert(tx, `storm-${String(index).padStart(3, '0')}`);
      if (index % 10 === 9) throw new Error('rolled back on purpose');
    }),
  );
  const results = await Promise.allSettled(runs);
  expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(10);
  expect(await names('storm-')).toHaveLength(90);
});

test.each([
  ['a boolean', true],
  ['undefined', undefined],
  ['no number', Number.NaN],
  ['text with NUL', 'cut\0off'],
  ['an object', {}],
])('%s is never bound, since a driver would mangle it', async (_, value) => {
  await expect(database.query('SELECT ? AS x', [value as never])).rejects.toThrow(
    /parameter 1 .* cannot be bound/,
  );
});

test('a statement run for one row and for all rows finds the row of its own values', async () => {
  for (const name of ['values-a', 'values-b']) await insert(database, name);
  const sql = 'SELECT identifier AS name FROM user_identifiers WHERE identifier = ?';
  expect(await database.query(sql, ['values-b'])).toEqual([{ name: 'values-b' }]);
  expect(await database.queryOne(sql, ['values-a'])).toEqual({ name: 'values-a' });
  expect(await database.query(sql, ['values-b'])).toEqual([{ name: 'values-b' }]);
});

test('text is compared byte by byte and stored without loss', async () => {
  for (const name of ['José', 'jose', 'Jose', 'josé', '😀', '😁', 'ﷺ', 'ß'])
    await insert(database, `text-${name}`);
  expect(await names('text-')).toHaveLength(8);
  const exact = await database.query('SELECT identifier AS name FROM user_identifiers WHERE identifier = ?', [
    'text-jose',
  ]);
  expect(exact).toEqual([{ name: 'text-jose' }]);
});

test(`what is acknowledged is on disk (${ENGINE})`, async () => {
  if (ENGINE === 'sqlite') {
    const [row] = await database.query<{ synchronous: number }>('PRAGMA synchronous');
    const [mode] = await database.query<{ journal_mode: string }>('PRAGMA journal_mode');
    expect([row?.synchronous, mode?.journal_mode]).toEqual([2, 'wal']);
  } else {
    const [row] = await database.query<{ mode: string }>('SELECT @@SESSION.sql_mode AS mode');
    expect(row?.mode).toContain('STRICT_ALL_TABLES');
  }
});
