import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { TestApp } from '../support/app.js';
import type { Json } from '../support/client.js';
import { ENTERPRISE, ROLLCALL, type ScimClient, provision, scimAs, scimOf } from '../support/scim.js';

/** Nothing that a client sends is a fault of the service. */
let app: TestApp;
let clients: ScimClient[];
let id: string;
beforeAll(async () => {
  app = await TestApp.start();
  clients = [
    scimOf(app),
    await scimAs(app, { profile: 'entra' }),
    await scimAs(app, { profile: 'midpoint' }),
  ];
  ({ id } = await provision(scimOf(app)));
});
afterAll(() => app.end());
jest.setTimeout(120_000);

const NAMES = [
  'userName',
  'externalId',
  'name',
  'name.givenName',
  'nickName',
  'displayName',
  'active',
  'emails',
  'emails.value',
  'phoneNumbers',
  'photos',
  'roles',
  'password',
  'groups',
  'addresses',
  'x509Certificates',
  'meta',
  'meta.created',
  'id',
  'schemas',
  ENTERPRISE,
  ROLLCALL,
  `${ENTERPRISE}:manager`,
  `${ROLLCALL}:authname`,
  `${ROLLCALL}:socialMedia`,
  'emails[type eq "work"]',
  'emails[type eq "work"].value',
  'roles[value eq "x"]',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  '',
  'a.b.c',
  '[',
  'x[',
];
const name = fc.oneof(fc.constantFrom(...NAMES), fc.string());
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    '',
    'True',
    'False',
    'a@example.org',
    'http://x.example/',
    '\u0000',
    '\ud800',
    'x'.repeat(300),
    '00000000-0000-4000-8000-00000000dead',
  ),
);
const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.boolean(),
    fc.double(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(
      fc.oneof(name, fc.constantFrom('value', 'type', 'primary', 'method', '$ref')),
      tie('value'),
      { maxKeys: 4 },
    ),
  ),
}));
const body = fc.dictionary(name, value, { maxKeys: 6 });
const operation = fc.record(
  { op: fc.oneof(fc.constantFrom('add', 'Replace', 'remove'), text), path: name, value },
  { requiredKeys: [] },
);
const word = fc.oneof(
  name,
  fc.constantFrom(
    'eq',
    'ne',
    'co',
    'sw',
    'gt',
    'le',
    'pr',
    'and',
    'or',
    'not',
    '(',
    ')',
    '[',
    ']',
    '"x"',
    '"',
    'true',
    'null',
    '1',
  ),
);
const filter = fc.oneof(
  fc.array(word, { maxLength: 8 }).map((words) => words.join(' ')),
  fc
    .tuple(fc.constantFrom(...NAMES), fc.constantFrom('eq', 'sw', 'gt', 'ne', 'co'), text)
    .map(([path, op, operand]) => `${path} ${op} ${JSON.stringify(operand)}`),
);
const well = (sent: string): string => encodeURIComponent(sent.toWellFormed());

test.each<[string, fc.Arbitrary<(client: ScimClient) => ReturnType<ScimClient['get']>>]>([
  [
    'POST',
    body.map((sent) => (c) => c.post('/Users', { userName: `f${Math.random()}@example.org`, ...sent })),
  ],
  ['PUT', body.map((sent) => (c) => c.put(`/Users/${id}`, { userName: 'fuzzed@example.org', ...sent }))],
  [
    'PATCH',
    fc.array(operation, { maxLength: 4 }).map((operations) => (c) => c.patch(`/Users/${id}`, ...operations)),
  ],
  ['filter', filter.map((sent) => (c) => c.get(`/Users?filter=${well(sent)}`))],
  [
    'list',
    fc.tuple(name, text, text, text).map(
      ([sortBy, cursor, count, attributes]) =>
        (c) =>
          c.get(
            `/Users?sortBy=${well(sortBy)}&count=${well(count)}&attributes=${well(attributes)}${cursor ? `&cursor=${well(cursor)}` : ''}`,
          ),
    ),
  ],
  ['.search', body.map((sent) => (c) => c.post('/Users/.search', sent))],
  ['search over all', filter.map((sent) => (c) => c.post('/.search', { filter: sent, count: 1 }))],
])('%s', async (_what, requests) => {
  await fc.assert(
    fc.asyncProperty(requests, fc.constantFrom(0, 1, 2), async (send, which) => {
      const { status, text: sent } = await send(clients[which]!);
      if (status >= 500) throw new Error(sent);
    }),
    { numRuns: 400 },
  );
  expect(({} as Json).polluted).toBeUndefined();
  expect((await clients[0]!.get(`/Users/${id}`)).status).toBe(200);
});
