import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseFiles } from '../../src/platform/database/sqlite/database-files.js';
import { SqliteConnection, createFile } from '../../src/platform/database/sqlite/sqlite-connection.js';
import { SqliteEngine } from '../../src/platform/database/sqlite/sqlite.engine.js';
import { WriteAheadLog } from '../../src/platform/database/sqlite/write-ahead-log.js';
import { WriteLock } from '../../src/platform/database/sqlite/write-lock.js';

let folder: string;
let file: string;
let connection: SqliteConnection;
let engine: SqliteEngine;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rollcall-checkpoint-'));
  file = join(folder, 'test.sqlite');
  const created = createFile(file);
  created.exec('CREATE TABLE numbers (number INTEGER)');
  created.close();
  const files = DatabaseFiles.claim(file);
  files?.installation.recordClosed({ id: 'test', epoch: 0 });
  copyFileSync(file, `${file}.old`);
  const lock = new WriteLock(undefined, files);
  connection = SqliteConnection.open(file);
  engine = new SqliteEngine(connection, lock, new WriteAheadLog(file, connection, lock, []));
  await engine.execute('INSERT INTO numbers VALUES (1)');
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const ACTS: [description: string, act: () => void, code: string | undefined][] = [
  ['nothing happens', () => undefined, undefined],
  ['its file is emptied', () => truncateSync(file), 'replaced'],
  ['its file is overwritten', () => writeFileSync(file, readFileSync(`${file}.old`)), 'replaced'],
];

test.each(ACTS)('a checkpoint of a SQLite file fails only if the file changes: %s', async (_, act, fault) => {
  const runCheckpoint = connection.runCheckpoint.bind(connection);
  connection.runCheckpoint = (truncate) => {
    runCheckpoint(truncate);
    act();
  };
  const closed = engine.close().then(
    () => undefined,
    (error: unknown) => (error as { fault: string }).fault,
  );
  expect(await closed).toBe(fault);
});
