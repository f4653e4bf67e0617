import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { createDraftPath } from '../../platform/common/draft-file.js';
import { SHUTDOWN_SIGNALS } from '../../platform/common/signals.js';
import type { Snapshot } from '../../platform/database/engine/backup-connections.js';
import { type BackupHeader, buildChecksum } from './backup-format.js';

/** Gzip level. The highest level saves another tenth, but takes four times as long. */
const COMPRESSION_LEVEL = 3;
const STOPPED_CODE = 2;

/**
 * Writes a backup. Renames a complete temporary file, so `path` never contains an incomplete backup. Only the user of
 * this process can read the file.
 * @param progress receives the number of rows written so far.
 * @throws errors of the file system and of the database.
 */
export async function writeBackup(
  path: string,
  header: BackupHeader,
  snapshot: Snapshot,
  progress: (rows: number) => void,
): Promise<void> {
  const part = createDraftPath(dirname(path));
  const file = await open(part, 'wx', 0o600);
  const stop = (): void => {
    rmSync(part, { force: true });
    process.exit(STOPPED_CODE);
  };
  for (const signal of SHUTDOWN_SIGNALS) process.once(signal, stop);
  try {
    await writeText(file, generateLines(header, snapshot, progress));
    await file.close();
    await rename(part, path);
    await syncFolder(dirname(path));
  } catch (error) {
    // Ignore errors from closing the file, because `error` is the cause.
    await file.close().catch(() => undefined);
    await rm(part, { force: true });
    throw error;
  } finally {
    for (const signal of SHUTDOWN_SIGNALS) process.off(signal, stop);
  }
}

async function writeText(file: FileHandle, text: AsyncIterable<string>): Promise<void> {
  const hash = createHash('sha256');
  const write = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of chunks) {
      hash.update(chunk);
      await file.writeFile(chunk);
    }
  };
  await pipeline(text, createGzip({ level: COMPRESSION_LEVEL }), write);
  await file.writeFile(buildChecksum(hash.digest('hex')));
  await file.sync();
}

async function* generateLines(
  header: BackupHeader,
  snapshot: Snapshot,
  progress: (rows: number) => void,
): AsyncGenerator<string> {
  let written = 0;
  yield toLine(header);
  for (const table of header.tables) {
    yield toLine({ table: table.name });
    for await (const rows of snapshot.streamRows(table)) {
      if (rows.length > 0) yield rows.map(toLine).join('');
      progress((written += rows.length));
    }
  }
}

const toLine = (value: unknown): string => `${JSON.stringify(value)}\n`;

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  // Some file systems cannot sync folders.
  await handle.sync().catch(() => undefined);
  await handle.close();
}
