import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { join } from 'node:path';
import { type Database, openDatabase } from '../../src/platform/database/engine/database.js';
import { ALL_BUT_INTERVALS } from '../support/app/clock.js';
import { ENGINE, type TestDatabase, freshDatabase } from '../support/app/database.js';
import { ROOT, childrenOf } from '../support/process/process.js';

/** Searches, exports and the log of an embedded database, in the process beside the service. */
const onSqlite = ENGINE === 'sqlite' ? describe : describe.skip;
/** A statement that takes minutes, and one of half a second or more. */
const counting = (to: number) =>
  `WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < ${to}) SELECT COUNT(*) AS n FROM c`;

onSqlite('the process that reads', () => {
  let folder: TestDatabase;
  let database: Database;
  beforeAll(async () => {
    folder = await freshDatabase();
    database = await openDatabase(
      { databaseUrl: folder.url, DATABASE_POOL_SIZE: 1 },
      { reader: join(ROOT, 'dist/read-worker.js') },
    );
    await database.execute('CREATE TABLE t (a INTEGER PRIMARY KEY, b VARCHAR)');
  });
  afterEach(() => {
    jest.useRealTimers();
  });
  afterAll(async () => {
    await database.close();
    await folder.drop();
  });

  test('what is acknowledged is seen by the next search', async () => {
    for (let i = 1; i <= 200; i++) {
      await database.execute('INSERT INTO t (a, b) VALUES (?, ?)', [i, `é${i}`]);
      const [row] = await database.scan('SELECT COUNT(*) AS n, MAX(b) AS b FROM t WHERE a >= ?', [i]);
      expect(row).toEqual({ n: 1, b: `é${i}` });
    }
  });

  test('rows are those that the connection of the service finds, whatever their types', async () => {
    const sql = "SELECT a, b, NULL AS missing, 0.5 AS part, '' AS empty FROM t WHERE a < ? ORDER BY a DESC";
    expect(await database.scan(sql, [4])).toEqual(await database.query(sql, [4]));
    expect(await database.scan('SELECT a FROM t WHERE a < 0')).toEqual([]);
  });

  test('the thread of the service goes on, and answers, while a search runs', async () => {
    let answered = 0;
    const search = database.scan(counting(2_000_000));
    const done = search.then(() => true);
    while (!(await Promise.race([done, new Promise((resolve) => setImmediate(resolve, false))]))) {
      await database.queryOne('SELECT b FROM t WHERE a = ?', [1]);
      await database.execute('UPDATE t SET b = ? WHERE a = 1', [String(answered)]);
      answered++;
    }
    expect(answered).toBeGreaterThan(10);
    expect(await search).toEqual([{ n: 2_000_000 }]);
  });

  test('a search that is given up is stopped, and those behind it run', async () => {
    const gone = new AbortController();
    const endless = database.scan(counting(1e15), [], gone.signal);
    const behind = database.scan('SELECT 1 AS one');
    const late = database.scan('SELECT 2 AS two', [], gone.signal);
    const settled = Promise.allSettled([endless, behind, late]);
    gone.abort();
    expect(await settled).toMatchObject([
      { status: 'rejected', reason: { name: 'AbortError' } },
      { status: 'fulfilled', value: [{ one: 1 }] },
      { status: 'rejected', reason: { name: 'AbortError' } },
    ]);
  });

  test('a process that is killed from outside is replaced, and its search repeated', async () => {
    await database.scan('SELECT 1 AS one');
    const [reader = 0] = childrenOf(process.pid);
    const search = database.scan(counting(2_000_000));
    process.kill(reader, 'SIGKILL');
    expect(await search).toEqual([{ n: 2_000_000 }]);
  });

  test('a read worker that does not answer for 20 seconds is replaced by another one', async () => {
    await database.scan('SELECT 1 AS one');
    const [reader = 0] = childrenOf(process.pid);
    process.kill(reader, 'SIGSTOP');
    jest.useFakeTimers({ doNotFake: ALL_BUT_INTERVALS });
    const unanswered = expect(database.scan('SELECT 1 AS one')).rejects.toMatchObject({
      code: 'unavailable',
    });
    jest.advanceTimersByTime(20_000);
    await unanswered;
    expect(await database.scan('SELECT 2 AS two')).toEqual([{ two: 2 }]);
  });

  test('errors are those of the connection of the service, and nothing can be written', async () => {
    const wrong = (error: unknown) => Promise.resolve(error);
    const codeOf = async (sql: string, at: 'query' | 'scan') => database[at](sql).catch(wrong);
    const bad = 'SELECT nothing FROM nowhere';
    expect(await codeOf(bad, 'scan')).toMatchObject({ code: 'SQLITE_ERROR' });
    expect(await codeOf(bad, 'query')).toMatchObject({ code: 'SQLITE_ERROR' });
    expect(await codeOf('DELETE FROM t RETURNING a', 'scan')).toMatchObject({
      cause: { code: 'SQLITE_READONLY' },
    });
    await expect(database.scan('SELECT ?', ['\0'])).rejects.toThrow(TypeError);
  });
});
