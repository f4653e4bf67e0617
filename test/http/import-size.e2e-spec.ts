import { expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import { sendChunked } from '../support/app/raw.js';

/** Files of 100 MiB and of one byte more, with and without a Content-Length. */
const app = setUpApp();

const MIB = 1024 * 1024;
const LIMIT = Array.from({ length: 100 }, () => Buffer.alloc(MIB, 'x'));
const BEYOND = [...LIMIT, Buffer.from('x')];
const FORM = 'multipart/form-data; boundary=frontier';
const wrapInForm = (file: readonly Buffer[]): Buffer[] => [
  Buffer.from(
    '--frontier\r\nContent-Disposition: form-data; name="file"; filename="big.csv"\r\nContent-Type: text/csv\r\n\r\n',
  ),
  ...file,
  Buffer.from('\r\n--frontier--\r\n'),
];
const countBytes = (parts: readonly Buffer[]): number => parts.reduce((sum, part) => sum + part.length, 0);

/** @param announced true if the request has a Content-Length, so that it can be rejected before its body arrives */
const send = async (type: string, parts: readonly Buffer[], announced: boolean) => {
  const headers = {
    ...app.key.headers,
    'content-type': type,
    ...(announced && { 'content-length': String(countBytes(parts)) }),
  };
  const { status, text } = await sendChunked(
    app.url,
    'POST',
    '/api/0.3/imports?dry_run=true',
    headers,
    parts,
  );
  const { code } = JSON.parse(text) as { code?: string };
  return [status, code];
};

const TYPES: [type: string, body: (file: readonly Buffer[]) => readonly Buffer[]][] = [
  ['text/csv', (file) => file],
  [FORM, wrapInForm],
];

test.each(TYPES)('an import file over 100 MiB, sent as %s, returns 413', async (type, body) => {
  for (const announced of [true, false])
    expect(await send(type, body(BEYOND), announced)).toEqual([413, 'too_large']);
});

test.each(TYPES)('an import file of 100 MiB, sent as %s, returns 202', async (type, body) => {
  // Storing a file takes seconds, so each media type is sent in only one of the two ways.
  const announced = type === FORM;
  expect(await send(type, body(LIMIT), announced)).toEqual([202, undefined]);
});
