import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { writeCompleteFile } from '../../platform/common/draft-file.js';
import type { Snapshot } from '../../platform/database/engine/backup-connections.js';
import { type BackupHeader, buildChecksum } from './backup-format.js';

/** Gzip level. The highest level saves another tenth, but takes four times as long. */
const COMPRESSION_LEVEL = 3;

/**
 * Writes a backup, as `writeCompleteFile`.
 * @param progress receives the number of rows written so far.
 * @throws errors of the file system and of the database.
 */
export const writeBackup = (
  path: string,
  header: BackupHeader,
  snapshot: Snapshot,
  progress: (rows: number) => void,
): Promise<void> =>
  writeCompleteFile(path, async (file) => {
    const hash = createHash('sha256');
    const write = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
      for await (const chunk of chunks) {
        hash.update(chunk);
        await file.writeFile(chunk);
      }
    };
    const lines = generateLines(header, snapshot, progress);
    await pipeline(lines, createGzip({ level: COMPRESSION_LEVEL }), write);
    await file.writeFile(buildChecksum(hash.digest('hex')));
  });

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
