import type { TestApp } from './app.js';
import { databaseOf } from './people.js';
import { CountingCopy, recordStatements } from './steps.js';

/**
 * Measures the cost of some work in the database, independent of time: rows and index entries read on MariaDB, steps of
 * the virtual machine on SQLite. On MariaDB the application must use one connection (DATABASE_POOL_SIZE=1), because the
 * counter is per connection.
 */
export async function measureEffort(app: TestApp, work: () => Promise<unknown>): Promise<number> {
  await work(); // work that only the first request of an hour does
  return databaseOf(app).dialect === 'sqlite' ? countSteps(app, work) : countRows(app, work);
}

/** Number of measurements. The smallest counts, because background statements may run in between. */
const RUNS = 3;

/** Counts the steps of all statements of `work`. They are replayed on a copy of the database from before the work. */
async function countSteps(app: TestApp, work: () => Promise<unknown>): Promise<number> {
  const copy = await CountingCopy.create(app);
  let fewest = Infinity;
  for (let run = 0; run < RUNS; run++) {
    const statements = await recordStatements(work);
    const steps = statements.reduce((sum, { sql, params }) => sum + copy.countSteps(sql, params), 0);
    fewest = Math.min(fewest, steps);
  }
  copy.close();
  return fewest;
}

async function countRows(app: TestApp, work: () => Promise<unknown>): Promise<number> {
  const costs: number[] = [];
  const idle: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const before = await readRowCounter(app);
    await work();
    const between = await readRowCounter(app);
    costs.push(between - before);
    idle.push((await readRowCounter(app)) - between);
  }
  return Math.min(...costs) - Math.min(...idle);
}

async function readRowCounter(app: TestApp): Promise<number> {
  const rows = await databaseOf(app).query<{ Value: string }>("SHOW SESSION STATUS LIKE 'Handler_read%'");
  return rows.reduce((sum, { Value }) => sum + Number(Value), 0);
}
