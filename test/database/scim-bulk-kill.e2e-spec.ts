import { expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { API_KEY } from '../support/app/app.js';
import { type Answer, Client, type Json } from '../support/app/client.js';
import { Process, envOf, setUpDatabase } from '../support/process/process.js';
import { group, idOf, patch, post } from '../support/app/scim-bulk.js';

/** Kills the service during a Bulk request with an `Idempotency-Key`. KILLS=20 sets a higher number of kills. */
const KILLS = Number(process.env['KILLS'] ?? 2);
const USERS = 600;
const database = setUpDatabase('tables');
const settings = () => ({ ...envOf(database), BOOTSTRAP_API_KEY: API_KEY });
const clientOf = (service: Process) => new Client(service.url, { 'x-api-key': API_KEY });
async function countUsers(client: Client): Promise<number> {
  const { body, status, text } = await client.get('/users/search?limit=1');
  if (status !== 200) throw new Error(`${status} ${text}`);
  return body.Count as number;
}

const ids = Array.from({ length: USERS }, (_, index) => `u${index}`);
/** Creates users, and changes the first user after each of them, so that each change is in a set of its own. */
const operations = [
  ...ids.flatMap((id, n) => (n % 50 ? post(id) : [post(id), patch('bulkId:u0', 'title', id)])),
  group('all', ...ids.map((id) => `bulkId:${id}`)),
];

test('a SCIM Bulk request retried after service kills creates every resource once', async () => {
  const key = randomUUID();
  const send = (service: Process): Promise<Answer> =>
    clientOf(service).fetch('POST', '/scim/v2/Bulk', JSON.stringify({ Operations: operations }), {
      'content-type': 'application/scim+json',
      'idempotency-key': key,
    });
  let service = await Process.startService(settings());
  const before = await countUsers(clientOf(service));
  let reached = before;
  for (let kill = 0; kill < KILLS; kill++) {
    const lost = send(service).catch(() => undefined);
    const watched = clientOf(service);
    const aim = Math.min(reached + USERS / (KILLS + 2), before + USERS - 1);
    while ((reached = await countUsers(watched)) < aim);
    service.signal('SIGKILL');
    await service.exit;
    await lost;
    service = await Process.startService(settings());
    const kept = await countUsers(clientOf(service));
    expect(kept).toBeGreaterThanOrEqual(reached);
    reached = kept;
  }
  expect(reached).toBeLessThanOrEqual(before + USERS);
  const answers = [await send(service), await send(service)];
  const [first, second] = answers.map(({ body }) => body.Operations as Json[]);
  const wanted = operations.map(({ method, bulkId }) => `${bulkId} ${method === 'POST' ? 201 : 200}`);
  expect(first?.map(({ bulkId, status }) => `${bulkId} ${status}`)).toEqual(wanted);
  expect(second).toEqual(first);
  const client = clientOf(service);
  expect(await countUsers(client)).toBe(before + USERS);
  const { body: changed } = await client.fetch('GET', `/scim/v2/Users/${idOf(first?.[0])}`);
  expect([changed.title, changed.meta.version]).toEqual(['u550', 'W/"13"']);
  const { body } = await client.get('/audit?action=user.created&limit=1000');
  const created = (body.Results as Json[]).map(({ target }) => target?.id as string);
  expect(new Set(created).size).toBe(created.length);
});
