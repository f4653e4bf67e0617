import libsql from 'libsql';
import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

export type Connection = libsql.Database;

/** Milliseconds that a statement waits for the lock of another process. */
const BUSY_MILLIS = 5000;

/** Opens the file, and makes it where there is none. */
export function openConnection(file: string): Connection {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const connection = new libsql(file, { timeout: BUSY_MILLIS });
  chmodSync(file, 0o600); // it holds password hashes
  // FULL: what was acknowledged survives a loss of power.
  connection.exec(
    `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = ${BUSY_MILLIS}; PRAGMA foreign_keys = ON;`,
  );
  // An import of many users touches most pages of a dozen indexes with each batch: 16 MiB of them are kept, and
  // those in the log are written back to the file once in 32 MiB, instead of once in four.
  connection.exec('PRAGMA cache_size = -16384; PRAGMA wal_autocheckpoint = 8192;');
  return connection;
}
