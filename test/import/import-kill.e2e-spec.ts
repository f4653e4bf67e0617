import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { loadEnv } from '../../src/config/env.js';
import { openDatabase } from '../../src/database/engine/database.js';
import { API_KEY } from '../support/app/app.js';
import { Client, type Json } from '../support/app/client.js';
import { type TestDatabase, freshDatabase } from '../support/app/database.js';
import { csv, settled, upload } from '../support/app/imports.js';
import { Process, newcomer } from '../support/process/process.js';

/** `kill -9` during an import. KILLS=10 sets a higher number of them. */
const KILLS = Number(process.env['KILLS'] ?? 3);
const ROWS = 2500;
let databases: TestDatabase[] = [];
jest.setTimeout(60_000 + KILLS * 60_000); // each takes a start, the end of a lease, and repeated work
beforeEach(() => void (databases = []));
afterEach(async () => {
  await Process.killAll();
  for (const database of databases) await database.drop();
});

const HEAD = 'ExternalId,Username,Email,Phone,Manager,Authname,Roles';
const FILE = (change: (i: number) => number) =>
  csv(
    HEAD,
    ...Array.from({ length: ROWS }, (_, i) => {
      const manager = i > 0 ? `K${Math.floor((i - 1) / 5)}` : '';
      return `K${i},k${change(i)},k${i}@example.org,+44 ${i},${manager},s${i},${i % 9 === 0 ? 'Editor' : ''}`;
    }),
  );

async function fresh(): Promise<Record<string, string>> {
  const database = await freshDatabase();
  databases.push(database);
  return {
    ...newcomer(database),
    BOOTSTRAP_API_KEY: API_KEY,
    BOOTSTRAP_WEBMASTER_PASSWORD: 'paint the garden fence',
  };
}
const clientOf = (service: Process) => new Client(service.url, { 'x-api-key': API_KEY });

/** All data of the users that does not depend on time, as an export writes it. */
async function state(client: Client): Promise<Json> {
  const users = (await client.get('/users/export.csv?all=true')).text.split('\r\n').sort();
  const search = async (query: string) =>
    (await client.get(`/users/search?limit=1&${query}`)).body.Count as number;
  return {
    users,
    active: await search('status=Active'),
    editors: await search('role=Editor'),
    words: await search('fulltext_search=k1*'),
  };
}

/** Imports both files; `kill` says whether the service is killed, and how long after an event of a run. */
async function importBoth(settings: Record<string, string>, kills: number) {
  let service = await Process.running(settings);
  const runs: Json[] = [];
  for (const file of [FILE((i) => i), FILE((i) => (i + 1) % ROWS)]) {
    const { body } = await upload(clientOf(service), file);
    for (let kill = 0; kill < kills; kill++) {
      await progress(clientOf(service), body.id, Math.random());
      service.signal('SIGKILL');
      await service.exit;
      service = await Process.running(settings);
    }
    let run = await settled(clientOf(service), body.id);
    if (run.state === 'needs_approval') {
      await clientOf(service).post(`/imports/${body.id}/apply`);
      run = await settled(clientOf(service), body.id);
    }
    runs.push({ state: run.state, counts: run.counts });
  }
  const client = clientOf(service);
  const result = { runs, ...(await state(client)) };
  await service.stop();
  return result;
}

/** Waits until the events of a run show this progress, or its end. */
async function progress(client: Client, id: string, share: number): Promise<void> {
  for (;;) {
    const { state, progress: at } = (await client.get(`/imports/${id}`)).body;
    if (at.percent / 100 >= share || !['queued', 'validating', 'applying'].includes(state)) return;
  }
}

test('a run that is killed again and again ends like an undisturbed one', async () => {
  const [calm, killed] = [await fresh(), await fresh()];
  const expected = await importBoth(calm, 0);
  expect(expected.runs.map((run: Json) => run.state)).toEqual(['completed', 'completed']);
  expect(await importBoth(killed, KILLS)).toEqual(expected);
  const audits = await Promise.all([calm, killed].map(auditCount));
  expect(audits[1]).toEqual(audits[0]);
});

async function auditCount(settings: Record<string, string>): Promise<Json> {
  const database = await openDatabase(loadEnv(settings));
  try {
    return await database.query(
      "SELECT action, COUNT(*) AS count FROM audit_events WHERE action <> 'import.approved' GROUP BY action ORDER BY action",
    );
  } finally {
    await database.close();
  }
}
