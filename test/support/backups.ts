import { copyFileSync, existsSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { loadEnv } from '../../src/config/env.js';
import { openSnapshot } from '../../src/database/engine/snapshot.js';
import type { SqlValue } from '../../src/database/engine/sql.js';
import { backedUpTables } from '../../src/backup/backup-tables.js';
import { ENTITIES } from '../../src/entities.js';
import type { TestDatabase } from './database.js';

export const TABLES = backedUpTables(ENTITIES);

/**
 * A database that no connection of this process has open: libsql closes a file when its statements are collected. Nobody may
 * write meanwhile.
 */
export function unopened(database: TestDatabase): TestDatabase {
  if (!database.url.startsWith('sqlite:')) return database;
  const folder = mkdtempSync(join(database.folder, 'copy-'));
  const from = database.url.replace('sqlite:', '');
  const to = join(folder, 'copy.sqlite');
  for (const end of ['', '-wal']) if (existsSync(from + end)) copyFileSync(from + end, to + end);
  return { ...database, url: `sqlite:${to}` };
}

/** Every row of every table that a backup holds, in an order of their own. */
export async function contentsOf(database: TestDatabase): Promise<Record<string, string[]>> {
  const snapshot = await openSnapshot(loadEnv({ DATABASE_URL: unopened(database).url }));
  const contents: Record<string, string[]> = {};
  for (const table of TABLES) {
    const rows: SqlValue[][] = [];
    for await (const batch of snapshot.rows(table)) rows.push(...batch);
    contents[table.name] = rows.map((row) => JSON.stringify(row)).sort();
  }
  await snapshot.close();
  return contents;
}
