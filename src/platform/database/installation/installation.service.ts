import type { Sql } from '../engine/sql.js';

/** Identity of the database, as it was when this process started. Only a stopped service can get another epoch. */
export class Installation {
  readonly id!: string;
  /** Number of times that the database went back to an earlier state. */
  readonly epoch!: number;
}

export async function readInstallation(sql: Sql): Promise<Installation> {
  const row = await sql.queryOne<Installation>('SELECT id, epoch FROM installation');
  if (!row) throw new Error('The table installation has no row. Restore a backup.');
  return row;
}
