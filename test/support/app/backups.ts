import { loadEnv } from '../../../src/platform/config/env.js';
import { openSnapshot } from '../../../src/platform/database/engine/backup-connections.js';
import type { SqlValue } from '../../../src/platform/database/engine/sql.js';
import { listBackedUpTables } from '../../../src/operations/backup/backup-format.js';
import { ENTITIES } from '../../../src/entities.js';
import type { TestDatabase } from './database.js';

export const TABLES = listBackedUpTables(ENTITIES);

/** Reads every row of every table that a backup contains. Rows are sorted by their JSON. */
export async function readContents(database: TestDatabase): Promise<Record<string, string[]>> {
  await using snapshot = await openSnapshot(loadEnv({ DATABASE_URL: database.url }));
  const contents: Record<string, string[]> = {};
  for (const table of TABLES) {
    const rows: SqlValue[][] = [];
    for await (const batch of snapshot.streamRows(table)) rows.push(...batch);
    contents[table.name] = rows.map((row) => JSON.stringify(row)).sort();
  }
  return contents;
}
