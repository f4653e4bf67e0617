import busboy from 'busboy';
import type { Request } from 'express';
import { finished } from 'node:stream';
import type { Caller } from '../access/actor.js';
import { ProblemError } from '../platform/common/errors.js';
import { fieldsOf } from '../platform/common/fields.js';
import type { JsonObject } from '../platform/common/json.js';
import { wantBody } from '../platform/http/body-reader.js';
import { MULTIPART_EXTRA, isMultipart } from '../platform/http/input.guard.js';
import { truncated } from '../platform/common/text.js';
import type { ImportRequests, Requested } from './mapping/requested-options.js';
import { RequestedOptions } from './runs/import-options.js';
import type { ImportRun } from './runs/import-run.js';
import { type ImportStore, MAX_FILE_BYTES, type StoredFile } from './file/import-store.js';
import type { RunQueue } from './apply/run-queue.service.js';

const MAX_FIELDS = 30;
const MAX_FIELD_BYTES = 4096;
/** A command of this machine may send a whole profile in a field. */
const MAX_LOCAL_FIELD_BYTES = 1024 * 1024;

/** A stored file and the options that came with it, in the query or as form fields. */
interface Upload extends Requested {
  file: StoredFile;
  /** As they were sent. */
  asked: JsonObject;
}

/** What receives an upload. */
export interface UploadParts {
  queue: RunQueue;
  requests: ImportRequests;
  store: Pick<ImportStore, 'store' | 'discard'>;
}

/**
 * Stores the file of a request as it arrives, and queues it as a run.
 * @throws ProblemError `invalid_parameter`, `too_large`; FirstAnswer for a repetition; nothing of the file is kept then.
 */
export async function submitUpload(request: Request, caller: Caller, parts: UploadParts): Promise<ImportRun> {
  const { file, options, profile, asked } = await receiveUpload(request, caller, parts);
  try {
    // A profile may have changed since: a repetition is known by what was sent.
    await caller.repeatable?.received([file.name, file.sha256, profile ? asked : options]);
    caller.repeatable?.afterRollback(() => parts.store.discard(file.runId));
    return await parts.queue.submit(file, options, caller, profile);
  } catch (error) {
    await parts.store.discard(file.runId);
    throw error;
  }
}

/** Stores the file of a request as it arrives, and reads its options. @throws ProblemError as `submitUpload`. */
export async function receiveUpload(
  request: Request,
  caller: Caller,
  { queue, requests, store }: UploadParts,
): Promise<Upload> {
  if (!isMultipart(request)) {
    const asked = { ...request.query };
    const requested = await requests.of(asked);
    queue.assertOptions(requested.options, caller);
    wantBody(request);
    return { file: await store.store(fileNameOf(request), request), asked, ...requested };
  }
  const { fields, file } = await receiveForm(request, store);
  try {
    const asked = merged(request.query, fields);
    const requested = await requests.of(asked, request.isLocal);
    queue.assertOptions(requested.options, caller);
    return { file, asked, ...requested };
  } catch (error) {
    await store.discard(file.runId);
    throw error;
  }
}

/** A header has no letters beyond ASCII: others are percent-encoded as UTF-8. What is no such encoding is the name itself. */
function fileNameOf({ headers }: Request): string {
  const name = headers['x-file-name'];
  if (typeof name !== 'string') return 'upload.csv';
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

const OPTIONS = fieldsOf(RequestedOptions);

/** Browsers send every field of a form: an option that is left empty is not given. @throws ProblemError `invalid_parameter` naming the field. */
function merged(query: Request['query'], fields: ReadonlyMap<string, string>): JsonObject {
  const given = [...fields].filter(([name, value]) => value !== '' || !OPTIONS.has(name));
  const twice = given.map(([name]) => name).find((name) => name in query);
  if (twice !== undefined) {
    throw new ProblemError('invalid_parameter', `${twice} is in the query and in the form; send it once.`);
  }
  return { ...query, ...Object.fromEntries(given) };
}

async function receiveForm(
  request: Request,
  store: UploadParts['store'],
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
