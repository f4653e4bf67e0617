import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, openDatabase } from '../../src/platform/database/engine/database.js';
import { ALL_BUT_INTERVALS } from '../support/app/clock.js';
import { type TestDatabase, createDatabase, describeOnSqlite } from '../support/app/database.js';
import { ROOT, childrenOf, suspend } from '../support/process/process.js';

/** The read worker runs searches, exports and audit queries of SQLite in a separate process. */
/** Builds a statement that counts to a number. 2,000,000 takes at least half a second, 1e15 never ends. */
const countTo = (to: number) =>
  `WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < ${to}) SELECT COUNT(*) AS n FROM c`;

describeOnSqlite('on SQLite', () => {
  let folder: TestDatabase;
  let database: Database;
  beforeAll(async () => {
    folder = await createDatabase('tables');
    database = await openDatabase(
      { databaseUrl: folder.url, DATABASE_POOL_SIZE: 1 },
      { reader: join(ROOT, 'dist/read-worker.js') },
    );
    await database.execute('CREATE TABLE t (a INTEGER PRIMARY KEY, b VARCHAR)');
  });
  afterEach(() => void jest.useRealTimers());
  afterAll(async () => {
    await database.close();
    await folder.drop();
  });

  test('the read worker sees every change committed before a search', async () => {
    for (let i = 1; i <= 200; i++) {
      await database.execute('INSERT INTO t (a, b) VALUES (?, ?)', [i, `é${i}`]);
      const [row] = await database.scan('SELECT COUNT(*) AS n, MAX(b) AS b FROM t WHERE a >= ?', [i]);
      expect(row).toEqual({ n: 1, b: `é${i}` });
    }
  });

  test('a read worker whose parent has ended does not open the database', async () => {
    const file = join(folder.folder, 'other.sqlite');
    writeFileSync(file, '');
    const env = { ...process.env, ROLLCALL_PARENT_PID: '0' };
    const [code] = await once(fork(join(ROOT, 'dist/read-worker.js'), [file], { env }), 'exit');
    expect([code, statSync(file).size]).toEqual([0, 0]);
  });

  test('the read worker returns the same values as the service', async () => {
    const sql = "SELECT a, b, NULL AS missing, 0.5 AS part, '' AS empty FROM t WHERE a < ? ORDER BY a DESC";
    expect(await database.scan(sql, [4])).toEqual(await database.query(sql, [4]));
    expect(await database.scan('SELECT a FROM t WHERE a < 0')).toEqual([]);
  });

  test('a search in the read worker does not block other statements', async () => {
    let answered = 0;
    const search = database.scan(countTo(2_000_000));
    const done = search.then(() => true);
    while (!(await Promise.race([done, new Promise((resolve) => setImmediate(resolve, false))]))) {
      await database.queryOne('SELECT b FROM t WHERE a = ?', [1]);
      await database.execute('UPDATE t SET b = ? WHERE a = 1', [String(answered)]);
      answered++;
    }
    expect(answered).toBeGreaterThan(10);
    expect(await search).toEqual([{ n: 2_000_000 }]);
  });

  test('the read worker stops only the aborted searches', async () => {
    const aborted = new AbortController();
    const endless = database.scan(countTo(1e15), [], aborted.signal);
    const waiting = database.scan('SELECT 1 AS one');
    const late = database.scan('SELECT 2 AS two', [], aborted.signal);
    const settled = Promise.allSettled([endless, waiting, late]);
    aborted.abort();
    expect(await settled).toMatchObject([
      { status: 'rejected', reason: { name: 'AbortError' } },
      { status: 'fulfilled', value: [{ one: 1 }] },
      { status: 'rejected', reason: { name: 'AbortError' } },
    ]);
  });

  test('the search of a killed read worker is repeated', async () => {
    await database.scan('SELECT 1 AS one');
    const [reader = 0] = childrenOf(process.pid);
    const search = database.scan(countTo(2_000_000));
    process.kill(reader, 'SIGKILL');
    expect(await search).toEqual([{ n: 2_000_000 }]);
  });

  test('a read worker without response for 20 seconds is replaced', async () => {
    await database.scan('SELECT 1 AS one');
    const [reader = 0] = childrenOf(process.pid);
    await suspend(reader);
    jest.useFakeTimers({ doNotFake: ALL_BUT_INTERVALS });
    const unanswered = expect(database.scan('SELECT 1 AS one')).rejects.toMatchObject({
      code: 'unavailable',
    });
    jest.advanceTimersByTime(20_000);
    await unanswered;
    expect(await database.scan('SELECT 2 AS two')).toEqual([{ two: 2 }]);
  });

  test('the read worker rejects writes and invalid SQL', async () => {
    const passOn = (error: unknown) => Promise.resolve(error);
    const runAt = async (sql: string, at: 'query' | 'scan') => database[at](sql).catch(passOn);
    const bad = 'SELECT nothing FROM nowhere';
    expect(await runAt(bad, 'scan')).toMatchObject({ code: 'SQLITE_ERROR' });
    expect(await runAt(bad, 'query')).toMatchObject({ code: 'SQLITE_ERROR' });
    expect(await runAt('DELETE FROM t RETURNING a', 'scan')).toMatchObject({
      cause: { code: 'SQLITE_READONLY' },
    });
    await expect(database.scan('SELECT ?', ['\0'])).rejects.toThrow(TypeError);
  });
});
