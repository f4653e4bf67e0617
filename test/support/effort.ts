import type { TestApp } from './app.js';
import { databaseOf } from './people.js';

/**
 * What a piece of work costs the database, in rows and index entries that MariaDB looks at, or in steps of SQLite's machine.
 * It does not depend on time. On MariaDB the application must have one connection (DATABASE_POOL_SIZE=1): it counts its own.
 */
export async function effortOf(app: TestApp, work: () => Promise<unknown>): Promise<number> {
  await work(); // what only the first request of an hour does
  const before = await spent(app);
  await work();
  const between = await spent(app);
  const idle = (await spent(app)) - between;
  return between - before - idle;
}

async function spent(app: TestApp): Promise<number> {
  const database = databaseOf(app);
  if (database.dialect === 'sqlite') {
    const [row] = await database.query<{ steps: number }>('SELECT SUM(nstep) AS steps FROM sqlite_stmt');
    return row?.steps ?? 0;
  }
  const rows = await database.query<{ Value: string }>("SHOW SESSION STATUS LIKE 'Handler_read%'");
  return rows.reduce((sum, { Value }) => sum + Number(Value), 0);
}
