import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import { sendChunked } from '../support/app/raw.js';

/** Files at the limit of 100 MiB, and a byte larger, in both media types. */
let app: TestApp;
beforeAll(async () => void (app = await TestApp.start()));
afterAll(async () => app.end());

const MIB = 1024 * 1024;
const LIMIT = Array.from({ length: 100 }, () => Buffer.alloc(MIB, 'x'));
const BEYOND = [...LIMIT, Buffer.from('x')];
const FORM = 'multipart/form-data; boundary=frontier';
const inForm = (file: readonly Buffer[]): Buffer[] => [
  Buffer.from(
    '--frontier\r\nContent-Disposition: form-data; name="file"; filename="big.csv"\r\nContent-Type: text/csv\r\n\r\n',
  ),
  ...file,
  Buffer.from('\r\n--frontier--\r\n'),
];
const bytesOf = (parts: readonly Buffer[]): number => parts.reduce((sum, part) => sum + part.length, 0);

/** @param announced whether the headers give the length, so that a request can be refused before its body comes. */
const send = async (type: string, parts: readonly Buffer[], announced: boolean) => {
  const headers = {
    ...app.key.headers,
    'content-type': type,
    ...(announced && { 'content-length': String(bytesOf(parts)) }),
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

describe.each([true, false])('with its length in the headers: %s', (announced) => {
  test.each([
    ['text/csv', (file: readonly Buffer[]) => file],
    [FORM, inForm],
  ])('a file as %s may have 100 MiB and not a byte more', async (type, body) => {
    expect(await send(type, body(BEYOND), announced)).toEqual([413, 'too_large']);
    expect(await send(type, body(LIMIT), announced)).toEqual([202, undefined]);
  });
});
