import { v7 as uuidv7 } from 'uuid';
import { ProblemError } from '../../platform/common/errors.js';
import { type ImportStore, MAX_FILE_BYTES, type StoredFile } from './import-store.js';

/** Room for a hundred rows; what is behind it is counted and thrown away. */
const HEAD_BYTES = 1024 * 1024;

/** The stream of a file ends here, and the file does not. */
export class HeadEnd extends Error {}

/** Receives a file as `ImportStore` does, and keeps its beginning in memory: nothing of it is stored. */
export class FileHead implements Pick<ImportStore, 'store' | 'discard'> {
  private pieces: Buffer[] = [];
  private kept = 0;
  private size = 0;

  /** @throws ProblemError `too_large` beyond 100 MiB; errors of the stream. */
  async store(name: string, bytes: AsyncIterable<Uint8Array>): Promise<StoredFile> {
    for await (const chunk of bytes) {
      this.size += chunk.length;
      if (this.size > MAX_FILE_BYTES) throw new ProblemError('too_large', 'The file has more than 100 MiB.');
      const piece = Buffer.from(chunk.subarray(0, Math.max(0, HEAD_BYTES - this.kept)));
      if (piece.length === 0) continue;
      this.kept += piece.length;
      this.pieces.push(piece);
    }
    return { runId: uuidv7(), name, size: this.size, parts: 0, sha256: '' };
  }

  discard(): Promise<void> {
    this.pieces = [];
    return Promise.resolve();
  }

  /** What was kept. @throws HeadEnd behind it, where the file is longer. */
  async *read(): AsyncGenerator<Uint8Array> {
    await Promise.resolve();
    yield* this.pieces;
    if (this.size > this.kept) throw new HeadEnd();
  }
}
