import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Checkpointer,
  SqliteConnection,
  assertSafeVersion,
  openFile,
} from '../../src/platform/database/sqlite/sqlite-connection.js';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rollcall-file-'));
  file = join(folder, 'test.sqlite');
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

test.each([
  ['3.7.0', 'refused'],
  ['3.45.1', 'refused'],
  ['3.51.2', 'refused'],
  ['3.51.3', 'accepted'],
  ['3.53.4', 'accepted'],
  ['4.0.0', 'accepted'],
])('SQLite %s is %s', (version, verdict) => {
  const check = () => {
    assertSafeVersion(version);
  };
  if (verdict === 'accepted') expect(check).not.toThrow();
  else expect(check).toThrow(`contains SQLite ${version}, which can lose data`);
});

test('the code of a SQLite error names the SQLite result', () => {
  expect(() => openFile(folder)).toThrow(expect.objectContaining({ code: 'SQLITE_CANTOPEN' }));
});

/** Returns the number of log pages and the number of checkpointed pages. */
const logOf = (connection: SqliteConnection) =>
  connection.queryOne('PRAGMA wal_checkpoint(NOOP)', []) as { log: number; checkpointed: number };

test('a SQLite checkpoint writes back the whole log', () => {
  const connection = SqliteConnection.open(file);
  const checkpointer = new Checkpointer(connection, file);
  connection.exec('CREATE TABLE numbers (n integer)');
  for (let n = 0; n < 3000; n++) connection.run('INSERT INTO numbers VALUES (?)', [n]);
  expect(logOf(connection)).toMatchObject({ checkpointed: 0 });
  expect(logOf(connection).log).toBeGreaterThan(3000);
  expect(checkpointer.runCheckpoint()).toBe(true);
  const { log, checkpointed } = logOf(connection);
  expect(checkpointed).toBe(log);
  connection.run('INSERT INTO numbers VALUES (?)', [3000]);
  expect(logOf(connection).log).toBeLessThan(10); // the log starts again
  checkpointer.close();
  connection.close();
});

test('a SQLite checkpoint does not run during an open transaction', () => {
  const connection = SqliteConnection.open(file);
  const checkpointer = new Checkpointer(connection, file);
  connection.exec('CREATE TABLE numbers (n integer)');
  const other = SqliteConnection.open(file);
  other.exec('BEGIN IMMEDIATE');
  expect(checkpointer.runCheckpoint()).toBe(false);
  expect(logOf(connection)).toMatchObject({ checkpointed: 0 });
  other.exec('ROLLBACK');
  expect(checkpointer.runCheckpoint()).toBe(true);
  checkpointer.close();
  for (const each of [other, connection]) each.close();
});

test('no transaction can begin while a SQLite checkpoint runs', () => {
  const connection = SqliteConnection.open(file);
  const checkpointer = new Checkpointer(connection, file);
  connection.exec('CREATE TABLE numbers (n integer)');
  const other = SqliteConnection.open(file);
  const query = connection.query.bind(connection);
  let refusal: unknown;
  connection.query = (sql, params) => {
    try {
      other.exec('BEGIN IMMEDIATE');
    } catch (error) {
      refusal = error;
    }
    return query(sql, params);
  };
  expect(checkpointer.runCheckpoint()).toBe(true);
  expect(refusal).toMatchObject({ fault: 'race' });
  checkpointer.close();
  for (const each of [other, connection]) each.close();
});
