import { DATABASE, type Database } from '../../src/database/engine/database.js';
import type { TestApp } from './app.js';

interface AuditRow {
  action: string;
  ip: string;
  changes: string;
}

/** The audit rows about a user, oldest first, straight from the table. */
export async function auditRows({ app }: TestApp, userUuid: string): Promise<AuditRow[]> {
  return app
    .get<Database>(DATABASE)
    .query<AuditRow>('SELECT action, changes, ip FROM audit_events WHERE target_id = ? ORDER BY id', [
      userUuid,
    ]);
}
