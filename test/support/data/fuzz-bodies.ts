import fc from 'fast-check';
import type { Json } from '../app/client.js';
import type { Operation } from '../app/operations.js';
import { HOSTILE_TEXTS, type Quality, type Schema, hostile, near, resolve, valid } from './fuzz-values.js';

export interface Body {
  body: string | Uint8Array | undefined;
  /** Content-Type, undefined without a body. */
  type: string | undefined;
}

/** Writes a JSON object from entries, so that keys can be repeated. */
const writeObject = (entries: readonly (readonly [string, Json])[]) =>
  `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`;

// prettier-ignore
const BROKEN_JSON = [
  '', '{', '{}', '[]', '"', 'null', '{"a":1,}', '{"username":"a","username":"b"}', '\ufeff{}', '{"\\ud800":1}',
  '{'.repeat(5000), '[1', '\0',
];

function jsonOf(schema: Schema, quality: Quality): fc.Arbitrary<string> {
  if (quality === 'good') return valid(schema).map((value) => JSON.stringify(value));
  const fields = Object.entries(resolve(schema).properties ?? {});
  const sound = valid(schema).map((value) => Object.entries<Json>(value as Record<string, Json>));
  const anything = hostile({ huge: true });
  const fault = fc.oneof(
    ...fields.map(([name, of]) => fc.oneof(near(of), anything).map((value) => [name, value] as const)),
    { weight: 3, arbitrary: fc.tuple(fc.constantFrom(...HOSTILE_TEXTS), hostile()) },
  );
  const faulty = fc
    .tuple(sound, fc.array(fault, { minLength: 1, maxLength: quality === 'bad' ? 6 : 1 }))
    .map(([entries, faults]) =>
      writeObject([...entries.filter(([name]) => !faults.some((one) => one[0] === name)), ...faults]),
    );
  if (quality === 'one fault') return faulty;
  const broken = fc.oneof(
    hostile().map((value) => JSON.stringify(value)),
    fc.constantFrom(...BROKEN_JSON),
    faulty.map((text) => text.slice(0, -3)),
  );
  return fc.oneof(faulty, broken);
}

const COLUMNS =
  'ExternalId,Username,Email,ForeName,Surname,Status,Roles,Manager,Phone,About,Hide_email,SAML'.split(',');

/** Builds a CSV file of a few rows with arbitrary cells. */
function fileOf(quality: Quality): fc.Arbitrary<string> {
  const quoted = (text: string) => (/["\r\n,]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const sound = fc
    .tuple(fc.uuid(), fc.stringMatching(/^[a-z]{5,12}$/))
    .map(([id, name]) => [id, name, `${name}@example.org`]);
  const odd = fc.array(
    fc.oneof(fc.constantFrom(...HOSTILE_TEXTS), fc.constantFrom('Active', 'Blocked', 'Editor', '')),
    { maxLength: 14 },
  );
  const rows = fc.array(quality === 'good' ? sound : fc.oneof(sound, odd), { maxLength: 6 });
  const header =
    quality === 'bad'
      ? fc.shuffledSubarray([...COLUMNS, '', 'Password', '__proto__'])
      : fc.constant(COLUMNS.slice(0, 3));
  return fc
    .tuple(header, rows)
    .map(([first, rest]) => [first, ...rest].map((row) => row.map(quoted).join(',')).join('\r\n'));
}

const toForm = (file: string, fields: readonly (readonly [string, string])[]) =>
  [
    ...fields.map(
      ([name, value]) => `--X\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    ),
    `--X\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\nContent-Type: text/csv\r\n\r\n${file}\r\n--X--\r\n`,
  ].join('');

// prettier-ignore
const ODD_TYPES = [
  '', 'text/plain', 'application/json; charset=latin1', 'application/json; charset=utf-8', 'application/xml',
  'APPLICATION/JSON', 'multipart/form-data', 'multipart/form-data; boundary=Y', 'application/x-www-form-urlencoded',
  'text/csv; charset=nonsense', ';;;', '*/*', 'application/json/../x',
];

/** Builds a body for an operation, or an empty body if the operation accepts none. */
export function bodyOf({ requestBody }: Operation, quality: Quality): fc.Arbitrary<Body> {
  const content = requestBody?.content ?? {};
  const odd = fc.constantFrom<string | undefined>(...ODD_TYPES);
  const typeOr = (usual: string) =>
    quality === 'bad' ? fc.oneof(fc.constant(usual), fc.constant(usual), odd) : fc.constant(usual);
  const json = content['application/json'];
  if (json)
    return fc.record({ body: jsonOf(json.schema as Schema, quality), type: typeOr('application/json') });
  if ('text/csv' in content) {
    const fields = fc.array(
      fc.tuple(
        fc.constantFrom('dry_run', 'mode', 'dataset', 'encoding', '__proto__', ''),
        fc.constantFrom('true', 'upsert', 'x', '\0', ''),
      ),
      { maxLength: quality === 'good' ? 0 : 3 },
    );
    return fc.oneof(
      fc.record({ body: fileOf(quality), type: typeOr('text/csv') }),
      fc.record({
        body: fc.tuple(fileOf(quality), fields).map((both) => toForm(...both)),
        type: typeOr('multipart/form-data; boundary=X'),
      }),
      ...(quality === 'bad'
        ? [fc.record({ body: fc.uint8Array({ maxLength: 300 }), type: typeOr('text/csv') })]
        : []),
    );
  }
  const none = fc.constant({ body: undefined, type: undefined });
  return quality === 'bad'
    ? fc.oneof(none, fc.record({ body: fc.constantFrom('{}', 'x'.repeat(100_000)), type: odd }))
    : none;
}
