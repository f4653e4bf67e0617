import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { type TableColumns, tableOf } from '../../platform/database/engine/sql.js';

/**
 * Version of the backup format. A backup is a gzip file with lines of JSON (ADR 29). The first line is the header. Each table
 * follows as a line `{"table": name}` and one line per row, with the values in the order of the columns in the header. The
 * checksum is the last line, in a separate gzip member.
 */
export const FORMAT = 1;

export interface BackupHeader {
  rollcall_backup: number;
  version: string;
  /** Time at which the backup was started, in ISO 8601 (UTC). */
  created: string;
  engine: 'sqlite' | 'mysql';
  /** Names of the migrations that were applied to the schema, in order. */
  migrations: readonly string[];
  tables: readonly (TableColumns & { rows: number })[];
}

/** Thrown for a file that is not a backup, is damaged, or has the schema of another release. */
export class BackupError extends Error {}

export const CHECKSUM_BYTES = buildChecksum(createHash('sha256').digest('hex')).length;

/**
 * Creates the last gzip member of a backup: a line with the hash of all previous bytes. The same hash always gives the
 * same bytes, so a reader can compare the whole member.
 */
export function buildChecksum(sha256: string): Buffer {
  const member = gzipSync(`${JSON.stringify({ sha256 })}\n`, { level: 0 });
  member.set([0, 0xff], 8); // level and operating system, which depend on the version of zlib and on the machine
  return member;
}

type Entities = readonly (new () => object)[];

/** Tables with temporary data. A backup omits them, and a restore empties them. */
const EXCLUDED_TABLES = new Set(['sessions', 'login_failures', 'login_devices', 'leases']);

export const listTables = (entities: Entities): readonly TableColumns[] => entities.map(tableOf);

export const listBackedUpTables = (entities: Entities): readonly TableColumns[] =>
  listTables(entities).filter(({ name }) => !EXCLUDED_TABLES.has(name));
