import busboy from 'busboy';
import type { Request } from 'express';
import { finished } from 'node:stream';
import { wantBody } from '../../platform/http/body-reader.js';
import { MULTIPART_EXTRA } from '../../platform/http/input.guard.js';
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

/** Takes the bytes of a file. */
export type FileReceiver = Pick<FileStore, 'store' | 'discard'>;

/** Stores uploaded files, whether they come from the API, the command line or the schedule. */
@Injectable()
export class FileStore {
  constructor(
    private readonly files: ImportFilesRepository,
    private readonly transactions: TransactionRunner,
  ) {}

  /**
   * Stores a file part by part, in the memory of one part.
   * @param earlier id of the future run, which an earlier attempt had: its parts are replaced, unless a run needs them.
   * @throws ProblemError `too_large` beyond 100 MiB; errors of the stream; a database error when there is such a run.
   * Nothing of the file is kept then.
   */
  async store(name: string, bytes: AsyncIterable<Uint8Array>, earlier?: string): Promise<StoredFile> {
    const runId = earlier ?? uuidv7();
    const hash = createHash('sha256');
    let size = 0;
    let parts = 0;
    let pending: Uint8Array[] = [];
    let length = 0;
    const flush = async (): Promise<void> => {
      if (parts === 0 && earlier !== undefined) await this.discard(earlier);
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

/** Room for a hundred rows. The rest is counted and dropped. */
const HEAD_BYTES = 1024 * 1024;

/** The stream of a file ends here, and the file does not. */
export class HeadEnd extends Error {}

/** Receives a file as `FileStore` does, and keeps its beginning in memory: nothing of it is stored. */
export class FileHead implements FileReceiver {
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

  /** Yields the kept bytes. @throws HeadEnd after them, where the file is longer. */
  async *read(): AsyncGenerator<Uint8Array> {
    await Promise.resolve();
    yield* this.pieces;
    if (this.size > this.kept) throw new HeadEnd();
  }
}

const MAX_FIELDS = 30;
const MAX_FIELD_BYTES = 4096;
/** A command of this machine may send a whole profile in a field. */
const MAX_LOCAL_FIELD_BYTES = 1024 * 1024;

/**
 * Stores the file of a form as it arrives. @returns the other fields of the form, too.
 * @throws ProblemError `invalid_parameter`, `too_large`; nothing of the file is kept then.
 */
export async function storeForm(
  request: Request,
  store: FileReceiver,
): Promise<{ fields: Map<string, string>; file: StoredFile }> {
  const fields = new Map<string, string>();
  const stored: Promise<StoredFile>[] = [];
  const failures: ProblemError[] = [];
  const refuse = (detail: string): void => {
    failures.push(new ProblemError('invalid_parameter', detail));
  };
  const form = openForm(request);
  // Busboy's types promise a name; a part without one, or with an empty one, has none.
  form.on('field', (name: string | undefined, value, { valueTruncated }) => {
    if (name === undefined) {
      refuse('A field of the form has no name.');
      return;
    }
    if (valueTruncated) refuse(`${truncated(name, 100)} is longer than ${MAX_FIELD_BYTES} bytes.`);
    if (fields.has(name)) refuse(`${truncated(name, 100)} is in the form twice.`);
    fields.set(name, value);
  });
  form.on('filesLimit', () => {
    refuse('The form has more than one file.');
  });
  form.on('fieldsLimit', () => {
    refuse(`The form has more than ${MAX_FIELDS} fields.`);
  });
  const ended = new Promise<void>((resolve, reject) => {
    form.on('file', (_field, stream, { filename }) => {
      const storing = store.store(filename || 'upload.csv', stream);
      stream.on('error', () => undefined); // `storing` reports it; without a listener it would end the process
      storing.catch(reject); // the form would wait for ever for its remaining bytes to be read
      stored.push(storing);
    });
    form.on('close', resolve);
    form.on('error', () => {
      reject(brokenForm());
    });
    // Also where the client left while its credentials were looked up: then no event comes any more.
    finished(request, { writable: false }, (error) => {
      if (error) reject(brokenForm());
    });
    let received = 0;
    request.on('data', (chunk: Buffer) => {
      received += chunk.length;
      if (received > MAX_FILE_BYTES + MULTIPART_EXTRA) {
        reject(new ProblemError('too_large', 'The form has more than 100 MiB.'));
      }
    });
  });
  wantBody(request);
  request.pipe(form);
  const [end] = await Promise.allSettled([ended]);
  if (end.status === 'rejected') form.destroy();
  const results = await Promise.allSettled(stored);
  const files = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const failed = [end, ...results].find((result) => result.status === 'rejected');
  const [file] = files;
  if (failed || failures.length > 0 || !file) {
    for (const { runId } of files) await store.discard(runId);
    throw failed?.reason ?? failures[0] ?? new ProblemError('invalid_parameter', 'The form has no file.');
  }
  return { fields, file };
}

function openForm(request: Request): busboy.Busboy {
  try {
    return busboy({
      headers: request.headers,
      defParamCharset: 'utf8',
      limits: {
        files: 1,
        fields: MAX_FIELDS,
        fieldSize: request.isLocal ? MAX_LOCAL_FIELD_BYTES : MAX_FIELD_BYTES,
        fileSize: MAX_FILE_BYTES + 1,
      },
    });
  } catch {
    throw brokenForm();
  }
}

const brokenForm = () =>
  new ProblemError('invalid_parameter', 'The form is incomplete or not multipart/form-data.');
