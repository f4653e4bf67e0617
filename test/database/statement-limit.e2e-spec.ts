import { beforeAll, expect, test } from '@jest/globals';
import type { Database } from '../../src/platform/database/engine/database.js';
import { setUpApp } from '../support/app/app.js';
import { describeOnMariadb } from '../support/app/database.js';
import { databaseOf } from '../support/app/people.js';
import { waitUntil } from '../support/data/wait.js';

/** Statements end in the database server even if the client has disconnected. */

/** A statement that takes hours. */
const ENDLESS = `SELECT COUNT(*) AS n FROM ${['a', 'b', 'c', 'd'].map((name) => `information_schema.columns ${name}`).join(', ')}`;

describeOnMariadb('on MariaDB', () => {
  const app = setUpApp({ DATABASE_POOL_SIZE: '4' });
  let database: Database;
  beforeAll(() => void (database = databaseOf(app)));

  const countSleeping = async (): Promise<number> => {
    const rows = await database.query(
      "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND info LIKE '%SLEEP(600)%' AND id <> CONNECTION_ID()",
    );
    return rows.length;
  };

  test('every database session has a max_statement_time of 14 seconds', async () => {
    const rows = await Promise.all(
      Array.from({ length: 4 }, () =>
        database.query('SELECT @@max_statement_time AS seconds, SLEEP(0.05) AS s'),
      ),
    );
    for (const [row] of rows) expect(row).toMatchObject({ seconds: 14 });
  });

  test('a connection stays usable after a statement exceeds max_statement_time', async () => {
    const tx = await database.begin();
    await tx.query('SET SESSION max_statement_time = 0.1');
    await expect(tx.query(ENDLESS)).rejects.toMatchObject({ code: 'unavailable' });
    await tx.query('SET SESSION max_statement_time = 14');
    const after = await tx.query('SELECT 1 AS one');
    await tx.rollback();
    expect(after).toEqual([{ one: 1 }]);
  });

  test('an aborted statement stops in the database and frees the connection', async () => {
    for (let round = 0; round < 3; round++) {
      const gone = new AbortController();
      const reads = Array.from({ length: 3 }, () => database.scan('SELECT SLEEP(600) AS s', [], gone.signal));
      const ended = Promise.allSettled(reads);
      await waitUntil(async () => (await countSleeping()) === 3);
      gone.abort();
      for (const end of await ended) expect(end).toMatchObject({ reason: { name: 'AbortError' } });
      await waitUntil(async () => (await countSleeping()) === 0);
    }
    expect(database.usage).toEqual({ inUse: 0, waiting: 0 });
    const rows = await Promise.all(Array.from({ length: 8 }, () => database.query('SELECT 1 AS one')));
    expect(rows).toEqual(Array(8).fill([{ one: 1 }]));
  });

  test('a statement with an aborted signal is not sent', async () => {
    const read = database.scan('SELECT SLEEP(600) AS s', [], AbortSignal.abort());
    await expect(read).rejects.toMatchObject({ name: 'AbortError' });
    expect(database.usage.inUse).toBe(0);
  });
});
