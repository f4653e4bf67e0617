import busboy from 'busboy';
import type { Request } from 'express';
import { finished } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { sendContinue } from '../../platform/http/body-reader.js';
import { MULTIPART_OVERHEAD } from '../../platform/http/input.guard.js';
import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { ProblemError } from '../../platform/common/errors.js';
import { TransactionRunner } from '../../platform/database/transaction-runner.js';
import { replaceHidden, truncate } from '../../platform/common/text.js';
import { ImportRunsRepository } from '../runs/import-runs.repository.js';
import { ImportFilesRepository, PART_BYTES } from './import-files.repository.js';

export const MAX_FILE_BYTES = 100 * 1024 * 1024;
const TOO_LARGE = 'The file is larger than 100 MiB. Split it into several files.';

/** A stored file for which no run exists yet. */
export interface StoredFile {
  runId: string;
  name: string;
  size: number;
  parts: number;
  sha256: string;
}

/** Destination for an uploaded file: the database for an import, memory for a preview. */
export type FileReceiver = Pick<FileStore, 'store' | 'discard' | 'read'>;

/** Measures a file while it is read. */
export class FileMeter {
  size = 0;
  private readonly hash = createHash('sha256');

  /** Yields the chunks unchanged. @throws ProblemError `too_large` for more than 100 MiB. */
  async *read(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      this.size += chunk.length;
      if (this.size > MAX_FILE_BYTES) throw new ProblemError('too_large', TOO_LARGE);
      this.hash.update(chunk);
      yield chunk;
    }
  }

  /** Returns the size and checksum. Call it once, after the whole file was read. */
  finish(): Pick<StoredFile, 'size' | 'sha256'> {
    return { size: this.size, sha256: this.hash.digest('hex') };
  }
}

/** Storage for files that are uploaded through the API, the command line or the schedule. */
@Injectable()
export class FileStore {
  constructor(
    private readonly files: ImportFilesRepository,
    private readonly runs: ImportRunsRepository,
    private readonly transactions: TransactionRunner,
  ) {}

  /**
   * Splits a file into parts and stores them, with at most one part in memory. After an error, nothing is stored.
   * @param reusedId run id of an earlier attempt, whose parts are replaced.
   * @throws ProblemError `too_large` for more than 100 MiB, an error of the stream, or a database error if an existing
   * run still needs the earlier parts.
   */
  async store(name: string, bytes: AsyncIterable<Uint8Array>, reusedId?: string): Promise<StoredFile> {
    let runId = reusedId ?? '';
    const meter = new FileMeter();
    let parts = 0;
    let pending: Uint8Array[] = [];
    let length = 0;
    const flush = async (): Promise<void> => {
      if (parts === 0 && reusedId !== undefined) await this.discard(reusedId);
      runId ||= await this.runs.createId();
      await this.files.append(runId, parts++, Buffer.concat(pending));
      pending = [];
      length = 0;
      await setImmediate(); // lets other requests run, because SQLite statements block this thread
    };
    try {
      // Do not await anything before this loop. A stream error before the loop would be unhandled and would end the
      // process.
      for await (const chunk of meter.read(bytes)) {
        pending.push(chunk);
        length += chunk.length;
        if (length >= PART_BYTES) await flush();
      }
      await flush();
    } catch (error) {
      await this.discard(runId);
      throw error;
    }
    return { runId, name: toShownName(name), parts, ...meter.finish() };
  }

  read(runId: string): AsyncGenerator<Uint8Array> {
    return this.files.read(runId);
  }

  /** Deletes a stored file, a few parts at a time, unless a run needs it. */
  async discard(runId: string): Promise<void> {
    while (await this.transactions.run((tx) => this.files.deleteUnused(tx, runId))) await setImmediate();
  }
}

/** Returns the name of a file as every response, log and audit event shows it. */
const toShownName = (name: string): string => truncate(replaceHidden(name), 255);

/** Maximum number of bytes that a preview keeps of a file, usually enough for a hundred rows. */
const PREFIX_BYTES = 1024 * 1024;

/** Thrown at the end of a file prefix if the file itself is longer. */
export class PrefixEndError extends Error {}

export class FilePrefix implements FileReceiver {
  name = '';
  private pieces: Buffer[] = [];
  private storedBytes = 0;
  /** True if the prefix contains the whole file. */
  isWhole = false;

  /** @throws ProblemError `too_large` for more than 100 MiB, or an error of the stream. */
  async store(name: string, bytes: AsyncIterable<Uint8Array>): Promise<StoredFile> {
    const meter = new FileMeter();
    for await (const chunk of meter.read(bytes)) {
      const piece = Buffer.from(chunk.subarray(0, Math.max(0, PREFIX_BYTES - this.storedBytes)));
      if (piece.length === 0) continue;
      this.storedBytes += piece.length;
      this.pieces.push(piece);
    }
    this.name = toShownName(name);
    this.isWhole = meter.size === this.storedBytes;
    return { runId: '', name: this.name, parts: 0, ...meter.finish() };
  }

  discard(): Promise<void> {
    this.pieces = [];
    return Promise.resolve();
  }

  /** Yields the stored bytes. @throws PrefixEndError after the last stored byte if the file is longer. */
  async *read(): AsyncGenerator<Uint8Array> {
    await Promise.resolve();
    yield* this.pieces;
    if (!this.isWhole) throw new PrefixEndError();
  }
}

const MAX_FIELDS = 30;
const MAX_FIELD_BYTES = 4096;
/** Form field that may contain a whole profile, also as a file. */
const PROFILE = 'profile';
const MAX_PROFILE_BYTES = 256 * 1024;

/**
 * Stores the file of a form while the request is received. Returns the file and the other fields of the form.
 * @throws ProblemError `invalid_parameter` or `too_large`. Nothing is stored after an error.
 */
export async function storeForm(
  request: Request,
  store: Pick<FileReceiver, 'store' | 'discard'>,
): Promise<{ fields: Map<string, string>; file: StoredFile }> {
  const fields = new Map<string, string>();
  const stored: Promise<StoredFile>[] = [];
  const parts: Promise<void>[] = [];
  const failures: ProblemError[] = [];
  const addFailure = (detail: string) => failures.push(new ProblemError('invalid_parameter', detail));
  const form = createFormParser(request);
  // Despite its types, Busboy passes undefined for a part without a name or with an empty name.
  const addField = (name: string | undefined, value: string): void => {
    if (name === undefined) {
      addFailure('A form field has no name. Give every field a name.');
      return;
    }
    const limit = name === PROFILE ? MAX_PROFILE_BYTES : MAX_FIELD_BYTES;
    if (Buffer.byteLength(value) > limit)
      addFailure(`Field ${truncate(name, 100)} is longer than ${limit} bytes.`);
    else if (fields.has(name))
      addFailure(`Field ${truncate(name, 100)} occurs more than once. Send it once.`);
    else fields.set(name, value);
  };
  form.on('field', addField);
  const addFileFailure = () => addFailure('The form contains more than one file. Send one file per request.');
  form.on('filesLimit', addFileFailure);
  form.on('fieldsLimit', () => addFailure(`The form contains more than ${MAX_FIELDS} fields.`));
  const ended = new Promise<void>((resolve, reject) => {
    form.on('file', (name, stream, { filename }) => {
      if (name === PROFILE) {
        const reading = readStart(stream, MAX_PROFILE_BYTES + 1);
        parts.push(reading.then(addField.bind(undefined, name)));
        return;
      }
      if (stored.length > 0) {
        addFileFailure();
        stream.resume();
        return;
      }
      const storing = store.store(filename || 'upload.csv', stream);
      stream.on('error', () => undefined); // Without a listener, the error would end the process. `storing` reports it.
      storing.catch(reject); // Fail now. Otherwise, the form would wait forever for the unread bytes of the file.
      stored.push(storing);
    });
    form.on('close', resolve);
    form.on('error', () => {
      reject(createFormError());
    });
    // Reject if the client disconnected during the check of its credentials. The form then emits no event.
    finished(request, { writable: false }, (error) => {
      if (error) reject(createFormError());
    });
    let received = 0;
    request.on('data', (chunk: Buffer) => {
      received += chunk.length;
      if (received > MAX_FILE_BYTES + MULTIPART_OVERHEAD) reject(new ProblemError('too_large', TOO_LARGE));
    });
  });
  sendContinue(request);
  request.pipe(form);
  const [end] = await Promise.allSettled([ended]);
  if (end.status === 'rejected') form.destroy();
  const results = await Promise.allSettled(stored);
  await Promise.allSettled(parts);
  const files = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const failed = [end, ...results].find((result) => result.status === 'rejected');
  const [file] = files;
  if (failed || failures.length > 0 || !file) {
    for (const { runId } of files) await store.discard(runId);
    throw failed?.reason ?? failures[0] ?? new ProblemError('invalid_parameter', 'The form has no file.');
  }
  return { fields, file };
}

/** Reads a stream to its end. Returns at most `length` bytes as text. */
async function readStart(stream: AsyncIterable<Buffer>, length: number): Promise<string> {
  let start = Buffer.alloc(0);
  for await (const piece of stream) start = Buffer.concat([start, piece.subarray(0, length - start.length)]);
  return start.toString();
}

function createFormParser(request: Request): busboy.Busboy {
  try {
    return busboy({
      headers: request.headers,
      defParamCharset: 'utf8',
      limits: {
        files: 2,
        fields: MAX_FIELDS,
        fieldSize: MAX_PROFILE_BYTES + 1,
        fileSize: MAX_FILE_BYTES + 1,
      },
    });
  } catch {
    throw createFormError();
  }
}

const createFormError = () =>
  new ProblemError('invalid_parameter', 'The form is incomplete or is not multipart/form-data.');
