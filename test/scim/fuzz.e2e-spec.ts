import { beforeAll, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import {
  SORT_ATTRIBUTES,
  body,
  bulkOperation,
  filter,
  groupBody,
  groupOperation,
  fillPlaceholders,
  name,
  operation,
  tamper,
  text,
  value,
  encodeQuery,
} from '../support/data/fuzz-scim.js';
import { type ScimClient, provision, createScimClient, scimOf } from '../support/app/scim.js';
import { service } from '../support/jest/native.js';

/**
 * No request of a client may cause a server error. Every run sends the same requests, except for new names.
 * FUZZ_REQUESTS sets the number of requests and prints the statuses of the responses.
 */
const SEED = 20_260_131;
const TOTAL = Number(process.env['FUZZ_REQUESTS'] ?? 2200);
const KINDS = 11;
const EACH = Math.ceil(TOTAL / KINDS);

const app = setUpApp();
let clients: ScimClient[];
let id: string;
let group: string;
beforeAll(async () => {
  clients = [
    scimOf(app),
    await createScimClient(app, { profile: 'entra' }),
    await createScimClient(app, { profile: 'midpoint' }),
  ];
  ({ id } = await provision(scimOf(app)));
  const created = await scimOf(app).post('/Groups', { displayName: 'fuzzed', members: [{ value: id }] });
  group = created.body.id as string;
});
jest.setTimeout(60_000 + EACH * 200);

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
  ['filter', filter.map((sent) => (c) => c.get(`/Users?count=2&filter=${encodeQuery(sent)}`))],
  [
    'list',
    fc
      .tuple(
        fc.oneof(fc.constantFrom(...SORT_ATTRIBUTES), name),
        fc.oneof(text, fc.constant('2')),
        fc.oneof(text, fc.constant('2')),
        text,
      )
      .map(
        ([sortBy, cursor, count, attributes]) =>
          (c) =>
            c.get(
              `/Users?sortBy=${encodeQuery(sortBy)}&count=${encodeQuery(count)}&attributes=${encodeQuery(attributes)}${cursor ? `&cursor=${encodeQuery(cursor)}` : ''}`,
            ),
      ),
  ],
  [
    '.search',
    fc.tuple(body, filter, name).map(
      ([sent, wanted, sortBy]) =>
        (c) =>
          c.post('/Users/.search', {
            count: 2,
            filter: wanted,
            ...(sortBy.length % 2 === 1 && { sortBy }),
            ...sent,
          }),
    ),
  ],
  [
    'group POST',
    groupBody.map((sent) => (c) => c.post('/Groups', { displayName: `f${Math.random()}`, ...sent })),
  ],
  [
    'group PATCH',
    fc
      .array(groupOperation, { maxLength: 4 })
      .map(
        (operations) => (c) =>
          c.send('PATCH', `/Groups/${group}`, fillPlaceholders({ Operations: operations }, id, group)),
      ),
  ],
  [
    'Bulk',
    fc
      .tuple(fc.array(bulkOperation, { maxLength: 5 }), fc.option(fc.oneof(fc.integer(), value), { freq: 3 }))
      .map(
        ([Operations, failOnErrors]) =>
          (c) =>
            c.post(
              '/Bulk',
              fillPlaceholders({ Operations, ...(failOnErrors !== null && { failOnErrors }) }, id, group),
            ),
      ),
  ],
  [
    'cursor',
    fc
      .tuple(fc.constantFrom('/Users', '/Groups'), fc.constantFrom(...SORT_ATTRIBUTES), fc.nat(41), text)
      .map(([path, sortBy, how, odd]) => async (c) => {
        const query = `${path}?count=1&sortBy=${sortBy}`;
        const { nextCursor } = (await c.get(`${query}&cursor=`)).body;
        return c.get(
          `${query}&cursor=${encodeQuery(tamper((nextCursor as string | undefined) ?? 'WyJ4Il0', how, odd))}`,
        );
      }),
  ],
  ['search of all resources', filter.map((sent) => (c) => c.post('/.search', { filter: sent, count: 1 }))],
])('random SCIM requests cause no server error: %s', async (what, requests) => {
  const seen = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(requests, fc.constantFrom(0, 1, 2), async (send, which) => {
      const { status, text: sent } = await send(clients[which]!);
      seen.set(status, (seen.get(status) ?? 0) + 1);
      if (status >= 500) throw new Error(sent);
    }),
    { numRuns: EACH, seed: SEED },
  );
  if (process.env['FUZZ_REQUESTS'] !== undefined) {
    const answers = [...seen].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
    process.stderr.write(`${what}: ${answers.join(', ')}\n`);
  }
  expect((new service.Object() as Json).polluted).toBeUndefined();
  expect((await clients[0]!.get(`/Users/${id}`)).status).toBe(200);
  expect((await clients[0]!.get(`/Groups/${group}`)).status).toBe(200);
});
