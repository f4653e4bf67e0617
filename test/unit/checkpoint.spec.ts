import { beforeEach, expect, test } from '@jest/globals';
import { copyFileSync, existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseFiles } from '../../src/platform/database/sqlite/database-files.js';
import { InstallationFile } from '../../src/platform/database/sqlite/installation-file.js';
import { SqliteConnection, createFile } from '../../src/platform/database/sqlite/sqlite-connection.js';
import { SqliteEngine } from '../../src/platform/database/sqlite/sqlite.engine.js';
import { WriteAheadLog } from '../../src/platform/database/sqlite/write-ahead-log.js';
import { WriteLock } from '../../src/platform/database/sqlite/write-lock.js';
import { setUpFolder } from '../support/data/folder.js';

const folder = setUpFolder();
const file = join(folder, 'test.sqlite');
let connection: SqliteConnection;
let engine: SqliteEngine;
beforeEach(async () => {
  createFile(file).close();
  const files = DatabaseFiles.claim(file);
  files?.installation.recordClosed({ id: 'test', epoch: 0 });
  const lock = new WriteLock(undefined, files);
  connection = SqliteConnection.open(file);
  engine = new SqliteEngine(
    connection,
    lock,
    new WriteAheadLog(file, connection, lock, []),
    SqliteConnection.open(file),
  );
  await engine.execute('CREATE TABLE first (number INTEGER)');
  copyFiles('old');
  await engine.execute('CREATE TABLE second (number INTEGER)');
});

function copyFiles(name: string): void {
  for (const suffix of ['', '-wal', '-shm', '-installation'])
    copyFileSync(file + suffix, join(folder, name + suffix));
}

/** Closes the engine, which checkpoints the log, and acts on the files after the checkpoint. @returns the error. */
function closeAndAct(act: () => unknown): Promise<unknown> {
  const runCheckpoint = connection.runCheckpoint.bind(connection);
  connection.runCheckpoint = () => {
    runCheckpoint(false);
    act();
  };
  return engine.close().catch((error: unknown) => error);
}

test.each([
  ['nothing', undefined, undefined],
  ['the database', '', 'replaced'],
  ['the log', '-wal', 'replaced'],
  ['the index of the log', '-shm', 'replaced'],
])('a checkpoint on SQLite fails only if a file is overwritten: %s', async (_, suffix, fault) => {
  const overwrite = () => writeFileSync(`${file}${suffix}`, readFileSync(join(folder, `old${suffix}`)));
  const error = await closeAndAct(() => suffix !== undefined && overwrite());
  expect(error).toEqual(fault && expect.objectContaining({ fault }));
});

test('a start ignores a shortened log whose pages are in the database file', async () => {
  await closeAndAct(() => copyFiles('copy'));
  const copy = join(folder, 'copy');
  truncateSync(`${copy}-wal`, 5000);
  expect(new InstallationFile(copy).findLoss()).toBeUndefined();
  expect(existsSync(`${copy}-wal`)).toBe(false);
});

test('closing a SQLite database records the checkpoint before emptying the log', async () => {
  const runCheckpoint = connection.runCheckpoint.bind(connection);
  const truncates: boolean[] = [];
  connection.runCheckpoint = (truncate) => {
    truncates.push(truncate);
    runCheckpoint(truncate);
  };
  await engine.close();
  expect(truncates).toEqual([false, true]);
});
