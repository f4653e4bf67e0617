import type { DatabaseSettings } from '../../platform/database/engine/connection-options.js';
import { type Snapshot, type TableColumns, openSnapshot } from '../../platform/database/engine/snapshot.js';

/** Rows of it tell nothing of anybody: the migrations may write some. */
const EMPTY_ALL_THE_SAME: ReadonlySet<string> = new Set(['user_rules', 'user_counts', 'leases']);

/** Whether a restore would destroy something: one of the tables has a row. Tables may be missing. */
export async function hasContent(
  settings: DatabaseSettings,
  tables: readonly TableColumns[],
): Promise<boolean> {
  const snapshot = await openSnapshot(settings);
  try {
    for (const { name } of tables) {
      if (EMPTY_ALL_THE_SAME.has(name) || (await snapshot.number(exists(name, snapshot))) === 0) continue;
      if ((await snapshot.number(`SELECT COUNT(*) FROM (SELECT 1 FROM ${name} LIMIT 1) AS some`)) > 0)
        return true;
    }
    return false;
  } finally {
    await snapshot.close();
  }
}

const exists = (table: string, { dialect }: Snapshot): string =>
  dialect === 'sqlite'
    ? `SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = '${table}'`
    : `SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = '${table}'`;
