import type { DatabaseSettings } from '../../platform/database/engine/connection-options.js';
import { type Refill, openRefill } from '../../platform/database/engine/refill.js';
import type { TableColumns } from '../../platform/database/engine/snapshot.js';
import type { BackupReader } from './read-backup.js';
import { checksOf } from './restore-checks.js';

/** What a check has found: 0 where all is well, undefined where there was nothing to check. */
export interface Checked {
  name: string;
  found: number | undefined;
}

/**
 * Replaces the contents of the database by those of a backup, in one transaction: whenever the process or the server ends,
 * the database is as it was, or it is restored. The checks after it report what was so in the database that was backed up.
 * @param tables all tables of the service: those that the backup lacks are emptied.
 * @param progress is called with the rows written so far.
 * @throws BackupFault, or the error of the database; nothing is changed then.
 */
export async function restoreBackup(
  settings: DatabaseSettings,
  backup: BackupReader,
  tables: readonly TableColumns[],
  progress: (rows: number) => void,
): Promise<Checked[]> {
  const refill = await openRefill(settings);
  try {
    for (const { name } of tables) await refill.empty(name);
    let written = 0;
    for await (const { table, rows } of backup.rows()) {
      await refill.insert(table, rows);
      progress((written += rows.length));
    }
    await assertCounts(refill, backup);
    const checked: Checked[] = [];
    for (const { name, sql } of checksOf(refill.dialect))
      checked.push({ name, found: await refill.number(sql) });
    await refill.commit();
    return checked;
  } finally {
    await refill.close();
  }
}

async function assertCounts(refill: Refill, { header }: BackupReader): Promise<void> {
  for (const { name, rows } of header.tables) {
    const found = await refill.number(`SELECT COUNT(*) FROM ${name}`);
    if (found !== rows)
      throw new Error(`The table ${name} has ${found} rows after the restore, not ${rows}.`);
  }
}
