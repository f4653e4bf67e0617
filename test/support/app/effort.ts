import type { TestApp } from './app.js';
import { databaseOf } from './people.js';
import { CountingCopy, recordStatements } from './steps.js';

/**
 * What a piece of work costs the database, in rows and index entries that MariaDB looks at, or in steps of SQLite's machine.
 * It does not depend on time. On MariaDB the application must have one connection (DATABASE_POOL_SIZE=1): it counts its own.
 */
export async function effortOf(app: TestApp, work: () => Promise<unknown>): Promise<number> {
  await work(); // what only the first request of an hour does
  return databaseOf(app).dialect === 'sqlite' ? stepsOf(app, work) : rowsOf(app, work);
}

/** Runs of which the cheapest counts: statements of the background come between now and then. */
const RUNS = 3;

/** The steps of the statements of `work`, run again on a copy of the database as it was before. */
async function stepsOf(app: TestApp, work: () => Promise<unknown>): Promise<number> {
  const copy = await CountingCopy.of(app);
  let fewest = Infinity;
  for (let run = 0; run < RUNS; run++) {
    const statements = await recordStatements(work);
    const steps = statements.reduce((sum, { sql, params }) => sum + copy.stepsOf(sql, params), 0);
    fewest = Math.min(fewest, steps);
  }
  copy.close();
  return fewest;
}

async function rowsOf(app: TestApp, work: () => Promise<unknown>): Promise<number> {
  const costs: number[] = [];
  const idle: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const before = await rowsSoFar(app);
    await work();
    const between = await rowsSoFar(app);
    costs.push(between - before);
    idle.push((await rowsSoFar(app)) - between);
  }
  return Math.min(...costs) - Math.min(...idle);
}

async function rowsSoFar(app: TestApp): Promise<number> {
  const rows = await databaseOf(app).query<{ Value: string }>("SHOW SESSION STATUS LIKE 'Handler_read%'");
  return rows.reduce((sum, { Value }) => sum + Number(Value), 0);
}
