import fc from 'fast-check';
import type { Json } from '../app/client.js';
import { openApi } from '../app/contract.js';

/** Quality of a part of a request. A bad part can be anything. */
export type Quality = 'good' | 'one fault' | 'bad';

/** The subset of JSON Schema that the OpenAPI file uses. */
export interface Schema {
  $ref?: string;
  type?: string;
  format?: string;
  enum?: string[];
  pattern?: string;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  maxItems?: number;
  nullable?: boolean;
  readOnly?: boolean;
  items?: Schema;
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
}

export function resolve(schema: Schema): Schema {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : ((openApi.components.schemas as Record<string, Schema>)[name] ?? {});
}

/** Builds values that match a schema. Texts are mostly short, and sometimes as long as allowed. */
export function valid(of: Schema): fc.Arbitrary<Json> {
  const schema = resolve(of);
  return schema.nullable ? fc.option(present(schema), { freq: 8 }) : present(schema);
}

function present(schema: Schema): fc.Arbitrary<Json> {
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.oneOf) return fc.oneof(...schema.oneOf.map(valid));
  if (schema.type === 'boolean') return fc.boolean();
  if (schema.type === 'integer' || schema.type === 'number') return integer(schema);
  if (schema.type === 'array') {
    return fc.array(valid(schema.items ?? {}), { maxLength: Math.min(schema.maxItems ?? 3, 5) });
  }
  return schema.type === 'object' ? object(schema) : text(schema);
}

function integer({ minimum = 0, maximum = 1e15 }: Schema): fc.Arbitrary<number> {
  return fc.oneof(fc.integer({ min: minimum, max: 200 }), fc.constantFrom(minimum, maximum));
}

function object({ properties = {}, required = [], additionalProperties: more }: Schema): fc.Arbitrary<Json> {
  if (typeof more === 'object')
    return fc.dictionary(fc.stringMatching(/^[a-z0-9_-]{1,32}$/), valid(more), { maxKeys: 9 });
  const writable = Object.entries(properties).filter(([, { readOnly }]) => readOnly !== true);
  const fields = writable.map(([name, schema]) => [name, sensible(name, schema)] as const);
  return fc.record(Object.fromEntries(fields), { requiredKeys: required });
}

const WORDS = 'jane,Doe,Ångström,李小龍,😀,Editor,Webmaster,External user,saml:jane,default'.split(',');

/**
 * Lookaheads of a pattern. The generator does not support them, and almost never generates a text that they exclude.
 */
const LOOKAHEAD = /\(\?![^)]*\)/g;

function text({ format, pattern, maxLength = 255 }: Schema): fc.Arbitrary<string> {
  if (format === 'uuid') return fc.uuid();
  if (format === 'date-time') return fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern.replace(LOOKAHEAD, '')));
  return fc.oneof(
    fc.constantFrom(...WORDS),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: Math.min(maxLength, 40) }),
    fc.webUrl(),
    fc.emailAddress(),
    fc.constantFrom('é', 'e\u0301', '\u{1f600}').map((unit) => unit.repeat(Math.min(maxLength, 4000))),
  );
}

const webUrl = fc.webUrl({ validSchemes: ['http', 'https'] });
const name = fc.uuid().map((uuid) => uuid.slice(-12));

/** Plausible values by the name of the field. Without them hardly any request would be valid. */
const PLAUSIBLE: Record<string, fc.Arbitrary<Json>> = {
  username: name,
  email: name.map((local) => `${local}@example.org`),
  external_id: name,
  roles: fc.subarray(['Editor', 'author', 'MODERATOR']),
  role: fc.constantFrom('Editor', 'webmaster'),
  default_roles: fc.constant('Editor;Author'),
  password: name,
  current_password: name,
  user_avatar: webUrl,
  facebook: webUrl,
  linkedin: webUrl,
  twitter: webUrl,
  manager_uuid: fc.constant(null),
  expires: fc.constantFrom('2999-01-01', '2100-01-31T12:00:00+02:00', null),
  delimiter: fc.constantFrom(',', 'tab'),
  encoding: fc.constantFrom('utf-8', 'windows-1252'),
  authname: fc.option(name.map((value) => ({ saml: [value] }))),
};

/** Builds values that match a schema and mostly suit the name of the field or parameter. */
export function sensible(field: string, schema: Schema): fc.Arbitrary<Json> {
  const known = PLAUSIBLE[field];
  return known
    ? fc.oneof({ weight: 40, arbitrary: known }, { weight: 1, arbitrary: valid(schema) })
    : valid(schema);
}

// prettier-ignore
const ODD_TIMES = [
  '2026-02-30', '2026-01-01T24:00:00Z', '9999-12-31T23:59:59.999-14:00', '0000-00-00', '-000001-01-01', '0001-01-01',
  '2026-01-01T00:00:00+99:99', '2026-01-01 00:00:00',
];

/** Builds values just outside a schema. */
export function near(of: Schema): fc.Arbitrary<Json> {
  const {
    type,
    maxLength = 255,
    minimum = 0,
    maximum = 1e15,
    maxItems = 32,
    items,
    enum: values,
    format,
  } = resolve(of);
  const outside: Json[] = [null, '', ' ', '\t\n', `${'x'.repeat(Math.min(maxLength, 20_000))}y`];
  if (values)
    outside.push(...values.flatMap((value) => [value.toUpperCase(), ` ${value} `, `${value},${value}`]));
  if (type === 'integer')
    outside.push(minimum - 1, maximum + 1, 0.5, -0, '007', '1e3', '+1', '0x10', '١', '9'.repeat(400));
  if (format === 'uuid')
    outside.push('00000000-0000-0000-0000-00000000000', '{01234567-89ab-cdef-0123-456789abcdef}');
  if (format === 'date-time') outside.push(...ODD_TIMES);
  if (type === 'boolean') outside.push('true', 1, 'TRUE', 'yes');
  const one = fc.constantFrom(...outside);
  if (type !== 'array') return one;
  return fc.oneof(one, fc.array(valid(items ?? {}), { minLength: maxItems + 1, maxLength: maxItems + 2 }));
}

/** Texts that are known to break services. */
export const HOSTILE_TEXTS = [
  '\0', 'a\0b', '\ud800', 'x\udfff', '\ufffe\uffff', '\u202e\u2066', '\u200b', '\ufeff', '__proto__', 'constructor',
  'toString', 'hasOwnProperty', "' OR 1=1 --", '" ; DROP TABLE users;', '%', '_', '\\', '%00', '%ZZ', '../../etc/passwd',
  '${jndi:ldap://x}', '{{7*7}}', '<script>alert(1)</script>', '\r\nSet-Cookie: a=b', '=cmd|calc', '*', '**', '* *', '"', '~1',
  'NaN', 'Infinity', '-1', '1e400', 'null', 'undefined', 'true', '[object Object]', 'ﬃ'.repeat(300), 'İ'.repeat(254),
  'ß'.repeat(255), 'e' + '\u0301'.repeat(2000), '😀'.repeat(300), `${'a'.repeat(64)}@${'b'.repeat(63)}.org`, '\u{10ffff}', ':', 'saml:',
]; // prettier-ignore

const nestArrays = (levels: number): Json => (levels === 0 ? 1 : [nestArrays(levels - 1)]);

/** Builds unexpected values of any type. `huge` includes texts that fill a whole body. */
export function hostile({ huge = false } = {}): fc.Arbitrary<Json> {
  // prettier-ignore
  const values: Json[] = [
    null, true, false, 0, -1, 1e308, 5e-324, 2 ** 53, [], {}, [[]], [null], [{}], { a: { b: 1 } }, nestArrays(20), nestArrays(40),
    { length: 1e9 }, { toString: 1 }, { toJSON: 'x' }, JSON.parse('{"__proto__": {"admin": true}}'),
  ];
  return fc.oneof(
    fc.constantFrom(...HOSTILE_TEXTS),
    fc.constantFrom(...values),
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc
      .array(fc.integer({ min: 0xd700, max: 0xe0ff }), { maxLength: 8 })
      .map((codes) => String.fromCharCode(...codes)),
    fc.constantFrom(...HOSTILE_TEXTS).map((text) => [text]),
    fc.constantFrom(...HOSTILE_TEXTS).map((text) => ({ [text]: [text] })),
    ...(huge
      ? [
          fc.constantFrom(
            'a'.repeat(100_000),
            Array(20_000).fill('x'),
            '\u0390'.repeat(400_000),
            'b'.repeat(1_100_000),
          ),
        ]
      : []),
  );
}
