import busboy from 'busboy';
import type { Request } from 'express';
import type { Caller } from '../access/actor.js';
import { ProblemError } from '../common/errors.js';
import { wantBody } from '../http/body-reader.js';
import { MULTIPART_EXTRA, isMultipart } from '../http/file-body.js';
import { readInput } from '../input/read-input.js';
import { truncated } from '../common/text.js';
import { ImportOptions } from './runs/import-options.js';
import type { ImportRun } from './runs/import-run.js';
import { type ImportStore, MAX_FILE_BYTES, type StoredFile } from './file/import-store.js';
import type { RunQueue } from './apply/run-queue.service.js';

const MAX_FIELDS = 30;
const MAX_FIELD_BYTES = 4096;

/** A stored file and the options that came with it, in the query or as form fields. */
interface Upload {
  file: StoredFile;
  options: ImportOptions;
}

/**
 * Stores the file of a request as it arrives, and queues it as a run.
 * @param query the options of the query string, already validated.
 * @throws ProblemError `invalid_parameter`, `too_large`; FirstAnswer for a repetition; nothing of the file is kept then.
 */
export async function submitUpload(
  request: Request,
  query: ImportOptions,
  caller: Caller,
  queue: RunQueue,
  store: ImportStore,
): Promise<ImportRun> {
  const { file, options } = await receiveUpload(request, query, caller, queue, store);
  try {
    await caller.repeatable?.received([file.name, file.sha256, options]);
    return await queue.submit(file, options, caller);
  } catch (error) {
    await store.discard(file.runId);
    throw error;
  }
}

async function receiveUpload(
  request: Request,
  query: ImportOptions,
  caller: Caller,
  queue: RunQueue,
  store: ImportStore,
): Promise<Upload> {
  if (!isMultipart(request)) {
    queue.assertOptions(query, caller);
    wantBody(request);
    const name =
      typeof request.headers['x-file-name'] === 'string' ? request.headers['x-file-name'] : 'upload.csv';
    return { file: await store.store(name, request), options: query };
  }
  const { fields, file } = await receiveForm(request, store);
  try {
    const options = mergeOptions(request.query, fields);
    queue.assertOptions(options, caller);
    return { file, options };
  } catch (error) {
    await store.discard(file.runId);
    throw error;
  }
}

/** @throws ProblemError `invalid_parameter` naming the field. */
function mergeOptions(query: Request['query'], fields: ReadonlyMap<string, string>): ImportOptions {
  const twice = [...fields.keys()].find((name) => name in query);
  if (twice !== undefined) {
    throw new ProblemError('invalid_parameter', `${twice} is in the query and in the form; send it once.`);
  }
  const { value, errors } = readInput(ImportOptions, { ...query, ...Object.fromEntries(fields) });
  if (errors.length === 0) return value;
  const detail = errors.map(({ field, code, message }) =>
    code === 'unknown_field' ? `${field} is not an option of an import` : `${field} ${message}`,
  );
  throw new ProblemError('invalid_parameter', `${detail.join('; ')}.`);
}

async function receiveForm(
  request: Request,
  store: ImportStore,
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
    request.on('aborted', () => {
      reject(brokenForm());
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
      limits: { files: 1, fields: MAX_FIELDS, fieldSize: MAX_FIELD_BYTES, fileSize: MAX_FILE_BYTES + 1 },
    });
  } catch {
    throw brokenForm();
  }
}

const brokenForm = () =>
  new ProblemError('invalid_parameter', 'The form is incomplete or not multipart/form-data.');
