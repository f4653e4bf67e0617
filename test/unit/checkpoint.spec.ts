import { expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseFiles } from '../../src/platform/database/sqlite/database-files.js';
import { SqliteConnection, createFile } from '../../src/platform/database/sqlite/sqlite-connection.js';
import { SqliteEngine } from '../../src/platform/database/sqlite/sqlite.engine.js';
import { WriteAheadLog } from '../../src/platform/database/sqlite/write-ahead-log.js';
import { WriteLock } from '../../src/platform/database/sqlite/write-lock.js';

const ACTS: [description: string, act: (file: string, old: Buffer) => void, fault: string | undefined][] = [
  ['nothing happens', () => undefined, undefined],
  ['the file is emptied', (file) => truncateSync(file), 'replaced'],
  ['the file is overwritten', (file, old) => writeFileSync(file, old), 'replaced'],
];

test.each(ACTS)('a checkpoint fails only if its SQLite file was changed: %s', async (_, act, fault) => {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-checkpoint-'));
  const file = join(folder, 'test.sqlite');
  createFile(file).close();
  const files = DatabaseFiles.claim(file);
  files?.installation.recordClosed({ id: 'test', epoch: 0 });
  const lock = new WriteLock(undefined, files);
  const connection = SqliteConnection.open(file);
  const engine = new SqliteEngine(connection, lock, new WriteAheadLog(file, connection, lock, []));
  const old = readFileSync(file);
  const runCheckpoint = connection.runCheckpoint.bind(connection);
  connection.runCheckpoint = (truncate) => {
    runCheckpoint(truncate);
    act(file, old);
  };
  await engine.execute('CREATE TABLE numbers (number INTEGER)');
  const closing = engine.close().catch((error: unknown) => error);
  expect(await closing).toEqual(fault && expect.objectContaining({ fault }));
  files?.release();
  rmSync(folder, { recursive: true });
});
