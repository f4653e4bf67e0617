import fc from 'fast-check';
import type { Json } from '../app/client.js';
import type { Operation } from '../app/operations.js';
import { bodyOf } from './fuzz-bodies.js';
import { type Quality, type Schema, hostile, near, sensible } from './fuzz-values.js';

/** A request to send. Placeholders such as `<user_id>` in its path are replaced by ids of existing records. */
export interface FuzzRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | Uint8Array | undefined;
}

/** Percent-encodes a value for a URL. A lone surrogate becomes the bytes that some clients send for it. */
function encode(value: Json): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return encodeURIComponent(text.replace(/\p{Cs}/gu, '\uE000'))
    .replaceAll('%EE%80%80', '%ED%A0%80')
    .slice(0, 6000);
}

/** Returns a valid value, or mostly other values for a bad request. */
function valueOf(name: string, schema: Schema, quality: Quality): fc.Arbitrary<Json> {
  const good = sensible(name, schema);
  return quality === 'good' ? good : fc.oneof(good, near(schema), hostile());
}

function pathOf({ path: template, parameters }: Operation, quality: Quality): fc.Arbitrary<string> {
  const names = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
  // Empty values, values with a slash and words such as `me` would match other routes.
  const odd = hostile()
    .map(encode)
    .filter((text) => !/^$|\/|^(me|search|export\.csv|template\.csv|login|logout)$/.test(text));
  const known = (name: string) =>
    fc.constantFrom(`<${name}>`, `<${name}>`, `<${name}>`, `<${name.toUpperCase()}>`);
  const filled = names.map((name) =>
    quality === 'good'
      ? fc.oneof({ weight: 6, arbitrary: known(name) }, { weight: 1, arbitrary: fc.uuid() })
      : fc.oneof(known(name), fc.uuid(), odd),
  );
  return fc
    .tuple(...filled)
    .map((values) =>
      names.reduce((path, name, at) => path.replace(`{${name}}`, () => values[at] ?? ''), template),
    );
}

const ODD_QUERIES =
  '&&== % = a[b]=c limit[]=1 __proto__=1 constructor[prototype]=1 %00=%00 ? # limit %ED%A0%80 + ;a=b'.split(
    ' ',
  );

function queryOf({ parameters }: Operation, quality: Quality): fc.Arbitrary<string> {
  const pairs = parameters
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, schema }) => valueOf(name, schema as Schema, quality).map((value) => ({ name, value })));
  const some = fc.tuple(...pairs).chain((all) => fc.subarray(all, { maxLength: Math.min(all.length, 4) }));
  const text = some.map((chosen) =>
    chosen
      .filter(({ value }) => value !== undefined && value !== null)
      .flatMap(({ name, value }) =>
        (Array.isArray(value) ? value : [value]).slice(0, 150).map((one) => `${name}=${encode(one)}`),
      )
      .slice(0, 150)
      .join('&')
      .slice(0, 7000)
      .replace(/%[0-9A-F]?$/, ''),
  );
  if (quality === 'good') return text;
  const junk = fc.oneof(
    fc.constantFrom(...ODD_QUERIES),
    fc.tuple(hostile().map(encode), hostile().map(encode)).map((pair) => pair.join('=')),
  );
  return fc
    .tuple(text, fc.option(junk, { freq: 3 }))
    .map(([sound, odd]) => [sound, odd].filter(Boolean).join('&').replaceAll('#', '%23').slice(0, 7500));
}

const ODD_HEADERS: Record<string, string[]> = {
  accept: ['application/json', 'text/html', '*/*;q=0', ';;', 'application/json;q=nan', '\xff'],
  'accept-encoding': ['gzip', 'br;q=1', 'nonsense'],
  'content-encoding': ['gzip', 'deflate', 'br', 'identity', 'nonsense', 'gzip, gzip'],
  'x-request-id': ['fine-1', 'x'.repeat(65), '\xe9', '', '../..'],
  'if-match': ['*', '"1.0.full"', 'W/"1"', '"', ',,,', '"999999999.0.full"', '"1.0.full", "x"'],
  'if-none-match': ['*', '"1.0.full"', 'W/"x"', '"', 'x'.repeat(4000)],
  'idempotency-key': ['a', 'b', 'x'.repeat(256), '\xff', '', 'a b', '__proto__'],
  'x-file-name': ['users.csv', '../../x', 'x'.repeat(300), '\xff\xfe', '=1+1', ''],
  cookie: ['rollcall_session=%', 'rollcall_session', '=;=', 'a=b; rollcall_session=x', '__proto__=1', 'rollcall_session="'],
  'x-forwarded-for': ['1.2.3.4', 'nonsense, ::1', 'x'.repeat(500)],
  'x-forwarded-proto': ['https', 'gopher'],
  'x-http-method-override': ['DELETE', 'TRACE'],
  origin: ['https://evil.example', 'null', 'x'],
  'sec-fetch-site': ['cross-site', 'same-origin', 'x'],
  range: ['bytes=0-1', 'bytes=-', 'lines=1'],
  'last-event-id': ['1', '\xff'],
  authorization: ['Basic eDp4', 'Bearer x', ''],
  'x-api-key': ['', 'x', 'rollcall_0123456789ab_x_0', '\xff', 'x'.repeat(5000)],
}; // prettier-ignore

function headersOf({ parameters }: Operation, quality: Quality): fc.Arbitrary<Record<string, string>> {
  const named = parameters
    .filter((parameter) => parameter.in === 'header')
    .map(({ name }) => name.toLowerCase());
  const offered =
    quality === 'good'
      ? named
      : Object.keys(ODD_HEADERS).filter((name) => quality === 'bad' || name !== 'x-api-key');
  const pairs = offered.map((name) =>
    fc.constantFrom(...(ODD_HEADERS[name] ?? [''])).map((value) => [name, value] as const),
  );
  return fc
    .tuple(...pairs)
    .chain((all) => fc.subarray(all, { maxLength: Math.min(all.length, quality === 'bad' ? 3 : 1) }))
    .map((chosen) => Object.fromEntries(chosen));
}

/** Combines parts of these qualities to a request. */
function mixRequest(
  operation: Operation,
  path: Quality,
  query: Quality,
  body: Quality,
  headers: Quality,
): fc.Arbitrary<FuzzRequest> {
  return fc
    .record({
      path: pathOf(operation, path),
      query: queryOf(operation, query),
      body: bodyOf(operation, body),
      headers: headersOf(operation, headers),
    })
    .map(({ path, query, body: { body, type }, headers }) => ({
      method: operation.method,
      path: query === '' ? path : `${path}?${query}`,
      headers: { ...(type !== undefined && { 'content-type': type }), ...headers },
      body,
    }));
}

/** Builds requests of an operation: valid ones, ones with a fault in one part, and ones with faults in every part. */
export function requestsOf(operation: Operation): fc.Arbitrary<FuzzRequest> {
  const [good, fault] = ['good', 'one fault'] as const;
  return fc.oneof(
    { weight: 6, arbitrary: mixRequest(operation, good, good, good, good) },
    { weight: 2, arbitrary: mixRequest(operation, fault, good, good, good) },
    { weight: 3, arbitrary: mixRequest(operation, good, fault, good, good) },
    { weight: 4, arbitrary: mixRequest(operation, good, good, fault, good) },
    { weight: 1, arbitrary: mixRequest(operation, good, good, good, fault) },
    { weight: 4, arbitrary: mixRequest(operation, 'bad', 'bad', 'bad', 'bad') },
  );
}
