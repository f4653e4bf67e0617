import { expect, test } from '@jest/globals';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import {
  SqliteConnection,
  assertSafeVersion,
  createFile,
  openFile,
} from '../../src/platform/database/sqlite/sqlite-connection.js';
import { setUpFolder } from '../support/data/folder.js';

const folder = setUpFolder();
const file = join(folder, 'test.sqlite');

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

test('a checkpoint writes the whole log to the database file', () => {
  const connection = new SqliteConnection(createFile(file));
  connection.exec('CREATE TABLE numbers (n integer)');
  for (let n = 0; n < 3000; n++) connection.run('INSERT INTO numbers VALUES (?)', [n]);
  expect(logOf(connection)).toMatchObject({ checkpointed: 0 });
  connection.runCheckpoint(false);
  const { log, checkpointed } = logOf(connection);
  expect(checkpointed).toBe(log);
  connection.run('INSERT INTO numbers VALUES (?)', [3000]);
  expect(logOf(connection).log).toBeLessThan(10); // the log starts again
  connection.runCheckpoint(true);
  expect(statSync(`${file}-wal`).size).toBe(0);
  connection.close();
});
