import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { errorCode } from '../platform/common/errors.js';

/** Personal data: only the owner of the file reads it. */
const OWNER_ONLY = 0o600;

/** Writes text as it comes, to standard output or to a file. A file that exists keeps its rights. */
export async function writeOut(text: AsyncIterable<string>, file: string | undefined): Promise<void> {
  const target = file === undefined ? process.stdout : createWriteStream(file, { mode: OWNER_ONLY });
  await pipeline(Readable.from(text), target).catch((error: unknown) => {
    // The reader, such as `head`, has closed the pipe.
    if (errorCode(error) !== 'EPIPE') throw error;
  });
}
