import { expect, test } from '@jest/globals';
import { existsSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { loadEnv } from '../../src/config/env.js';
import { openDatabase } from '../../src/database/engine/database.js';
import { API_KEY } from '../support/app/app.js';
import { Client, type Json } from '../support/app/client.js';
import { counted, csv, settled, upload } from '../support/app/imports.js';
import { HEAD, people } from '../support/data/user-file.js';
import { runCommand } from '../support/process/command.js';
import { Process, childrenOf, newcomer, processDatabase } from '../support/process/process.js';

/** A service is killed during an import, and the key that started it is revoked before the next start. */
const database = processDatabase();
const ROWS = 3000;
const FILE = csv(`${HEAD},Roles`, ...people('r', ROWS, (i) => [i % 10 === 0 ? 'Webmaster' : '']));

const start = () =>
  Process.running({
    ...newcomer(database),
    DATABASE_URL: database.url, // as the commands have it
    BOOTSTRAP_API_KEY: API_KEY,
    LOG_LEVEL: 'warn',
  });
const clientOf = ({ url }: Process, key = API_KEY) => new Client(url, { 'x-api-key': key });

/** How many users the database has, and rows of the audit about users. */
async function written(): Promise<Json> {
  const opened = await openDatabase(loadEnv({ DATA_DIR: database.folder, DATABASE_URL: database.url }));
  try {
    return await opened.first(
      `SELECT (SELECT COUNT(*) FROM users) AS users,
              (SELECT COUNT(*) FROM audit_events WHERE target_kind = 'user') AS events`,
    );
  } finally {
    await opened.close();
  }
}

const isRunning = (pid: number): boolean => existsSync(`/proc/${pid}`);

/** When the run is in a state, and as many users are there. */
async function reached(client: Client, id: string, state: string, users: number): Promise<void> {
  for (;;) {
    const run = (await client.get(`/imports/${id}`)).body;
    const { Count: count } = (await client.get('/users/search?limit=1')).body;
    if (run.state === state && count >= users) return;
    if (run.finished !== null) throw new Error(`too late: ${run.state as string}`);
  }
}

test.each([
  ['validating', 1],
  ['applying', 2], // the Webmaster, and a user of the file
])('killed while it is %s: after the start nothing more is written', async (state, users) => {
  const first = await start();
  const { id: keyId, key } = (await clientOf(first).post('/api_keys', { name: 'connector' })).body;
  const { id } = (await upload(clientOf(first, key), FILE, 'allow_privileged=true')).body;
  await reached(clientOf(first), id, state, users);
  const others = childrenOf(first.pid);
  first.signal('SIGKILL');
  await first.exit;
  while (others.some(isRunning)) await setImmediate(); // the process that imports ends with the service
  expect((await runCommand(database, ['keys', 'revoke', keyId])).code).toBe(0);
  const before = await written();

  const client = clientOf(await start());
  const run = await settled(client, id);
  expect([run.state, run.problems[0].code]).toEqual(['cancelled', 'credential_revoked']);
  const { created = 0, skipped = 0 } = counted(run);
  expect(created > 0).toBe(state === 'applying');
  expect(created + skipped).toBe(state === 'applying' ? ROWS : 0);
  expect(await written()).toEqual(before);
  expect((await client.get('/users/search?limit=1')).body.Count).toBe(created + 1);
});
