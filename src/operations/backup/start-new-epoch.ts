import { type Caller, SYSTEM } from '../../access/actor.js';
import { recordEvents } from '../../audit/audit.service.js';
import { cancelUnfinishedRuns } from '../../import/runs/run-transitions.service.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import { readInstallation } from '../../platform/database/installation/installation.service.js';

/**
 * Raises the epoch after the database went back to an earlier state, ends all sessions, cancels unfinished imports, and
 * records this in the audit. Call it in a transaction, before the application starts.
 * @param minimum highest epoch that clients may have seen.
 * @param details the address and further changes for the audit.
 * @returns the new epoch.
 */
export async function startNewEpoch(
  sql: Sql,
  minimum: number,
  { ip = '', changes = [] }: { ip?: string; changes?: readonly { field: string; new: string }[] } = {},
): Promise<number> {
  const { id, epoch: old } = await readInstallation(sql);
  const epoch = Math.max(old, minimum) + 1;
  const caller: Caller = { actor: SYSTEM, requestId: 'restore', ip };
  await sql.execute('UPDATE installation SET epoch = ?', [epoch]);
  await sql.execute('DELETE FROM sessions');
  await cancelUnfinishedRuns(sql, caller);
  const target = { kind: 'installation', id } as const;
  const all = [{ field: 'epoch', old, new: epoch }, ...changes];
  await recordEvents(sql, caller, [{ action: 'database.restored', target, changes: all }]);
  return epoch;
}
