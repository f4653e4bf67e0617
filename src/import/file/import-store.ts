import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { ProblemError } from '../../platform/common/errors.js';
import { TransactionRunner } from '../../platform/database/transaction-runner.js';
import { truncated } from '../../platform/common/text.js';
import { ImportFilesRepository, PART_BYTES } from './import-files.repository.js';

export const MAX_FILE_BYTES = 100 * 1024 * 1024;

/** A stored file that is not a run yet. */
export interface StoredFile {
  runId: string;
  name: string;
  size: number;
  parts: number;
  sha256: string;
}

/** Stores uploaded files, whether they come from the API, the command line or the schedule. */
@Injectable()
export class ImportStore {
  constructor(
    private readonly files: ImportFilesRepository,
    private readonly transactions: TransactionRunner,
  ) {}

  /**
   * Stores a file part by part, in the memory of one part.
   * @param runId of the future run; parts that an earlier attempt left under it are replaced, unless a run needs them.
   * @throws ProblemError `too_large` beyond 100 MiB; errors of the stream; a database error when there is such a run.
   * Nothing of the file is kept then.
   */
  async store(name: string, bytes: AsyncIterable<Uint8Array>, runId = uuidv7()): Promise<StoredFile> {
    const hash = createHash('sha256');
    let size = 0;
    let parts = 0;
    let pending: Uint8Array[] = [];
    let length = 0;
    const flush = async (): Promise<void> => {
      if (parts === 0) await this.discard(runId);
      await this.files.append(runId, parts++, Buffer.concat(pending));
      pending = [];
      length = 0;
    };
    try {
      // No await before this: a stream that fails without a listener ends the process.
      for await (const chunk of bytes) {
        size += chunk.length;
        if (size > MAX_FILE_BYTES) throw new ProblemError('too_large', 'The file has more than 100 MiB.');
        hash.update(chunk);
        pending.push(chunk);
        length += chunk.length;
        if (length >= PART_BYTES) await flush();
      }
      await flush();
    } catch (error) {
      await this.discard(runId);
      throw error;
    }
    return { runId, name: cleaned(name), size, parts, sha256: hash.digest('hex') };
  }

  /** Deletes a stored file unless a run needs it. */
  async discard(runId: string): Promise<void> {
    await this.transactions.run((tx) => this.files.deleteUnneeded(tx, runId));
  }
}

/** The name with only characters that the database can store: the sender may call a file anything. */
function cleaned(name: string): string {
  return truncated(name.toWellFormed().replace(/\p{Cc}/gu, '\ufffd'), 255);
}

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
