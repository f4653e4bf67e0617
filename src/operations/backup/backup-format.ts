import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { tableOf } from '../../platform/database/engine/sql.js';
import type { TableColumns } from '../../platform/database/engine/whole-database.js';

/**
 * A backup is gzip of lines of JSON (ADR 29): the header; for each table `{"table": name}` and its rows, each a list of
 * values in the order of the header's columns; at last the seal, in a gzip member of its own.
 */
export const FORMAT = 1;

interface BackedUpTable extends TableColumns {
  rows: number;
}

export interface BackupHeader {
  rollcall_backup: number;
  /** The release that wrote it. */
  version: string;
  /** ISO 8601, UTC. */
  created: string;
  engine: 'sqlite' | 'mysql';
  /** Names of the migrations of the schema, in their order. */
  migrations: readonly string[];
  tables: readonly BackedUpTable[];
}

/** A file that is no backup, is damaged, or is not for this program. */
export class BackupFault extends Error {}

/** Bytes of the seal. */
export const SEAL_BYTES = sealOf(createHash('sha256').digest('hex')).length;

/**
 * The last member of the file: a line with the hash of all bytes before it. It has one form, so that a reader compares all of
 * it, and each byte of the file is covered. (The checksum of gzip does not cover its own header.)
 */
export function sealOf(sha256: string): Buffer {
  const line = Buffer.from(`${JSON.stringify({ sha256 })}\n`);
  const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
  const block = Buffer.alloc(5); // one stored block, the last one (RFC 1951, 3.2.4)
  block[0] = 1;
  block.writeUInt16LE(line.length, 1);
  block.writeUInt16LE(~line.length & 0xffff, 3);
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc32(line), 0);
  trailer.writeUInt32LE(line.length, 4);
  return Buffer.concat([header, block, line, trailer]);
}

type Entities = readonly (new () => object)[];

/**
 * What belongs to the moment and not to the data: sessions, since who has logged out or was blocked must not come back;
 * failed logins that slow down the next; owners of work that have long ended. A restore empties these tables.
 */
const LEFT_OUT: ReadonlySet<string> = new Set(['sessions', 'login_failures', 'leases']);

/** Every table of the service. */
export const allTables = (entities: Entities): readonly TableColumns[] => entities.map(tableOf);

/** The tables of a backup. */
export const backedUpTables = (entities: Entities): readonly TableColumns[] =>
  allTables(entities).filter(({ name }) => !LEFT_OUT.has(name));
