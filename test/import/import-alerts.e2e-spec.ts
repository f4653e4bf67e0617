import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { createHmac } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { chmodSync, existsSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Log } from '../../src/platform/telemetry/log.js';
import { TestApp } from '../support/app/app.js';
import type { Client, Json } from '../support/app/client.js';
import { type TestDatabase, createDatabase } from '../support/app/database.js';
import { awaitRun, csv, readRun, runImport } from '../support/app/imports.js';
import { HEAD, people as peopleOf } from '../support/data/user-file.js';
import { TestDropFolder, addScheduledFile } from '../support/app/drop-folder.js';
import { databaseOf, inSeconds, problemOf } from '../support/app/people.js';
import { speedUpIntervals } from '../support/app/clock.js';

speedUpIntervals();

/** Alerts to operators through `NOTIFY_URL` and `NOTIFY_COMMAND` (interface §6, "Schedule"). */
const KEY = Buffer.from('0123456789abcdef0123456789abcdef');
const people = (count: number) => peopleOf('p-', count);

/** HTTP server that receives alerts and refuses the first `refuse` of them. */
class Receiver {
  readonly alerts: { headers: Record<string, unknown>; body: string; event: Json }[] = [];
  refusals = 0;
  /** Delay of each response, in milliseconds. */
  delayMillis = 0;
  private readonly arrivals = new EventEmitter();
  private readonly server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      this.alerts.push({ headers: request.headers, body, event: JSON.parse(body) });
      const status = this.refusals-- > 0 ? 500 : 204;
      setTimeout(() => response.writeHead(status).end('nothing of this is logged'), this.delayMillis);
      this.arrivals.emit('alert');
    });
  });

  async start(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/hook`;
  }

  async waitForAlerts(count: number): Promise<void> {
    while (this.alerts.length < count) await once(this.arrivals, 'alert');
  }

  end(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

let database: TestDatabase;
let receiver: Receiver;
let url: string;
let apps: TestApp[] = [];
beforeEach(async () => {
  database = await createDatabase();
  receiver = new Receiver();
  url = await receiver.start();
  apps = [];
});
afterEach(async () => {
  jest.restoreAllMocks();
  for (const app of apps) await app.stop();
  receiver.end();
  await database.drop();
});

const start = async (settings: Record<string, string>) => {
  const app = await TestApp.startOn(database, settings);
  apps.push(app);
  return app;
};
const stop = async (app: TestApp): Promise<void> => {
  apps = apps.filter((one) => one !== app);
  await app.stop();
};
/** Starts and stops the service. The stop waits for the first check of the start. */
const restart = async (settings = getHookSettings()) => stop(await start(settings));
const getHookSettings = () => ({ NOTIFY_URL: url, NOTIFY_SECRET: `whsec_${KEY.toString('base64')}` });

/** Creates a run that waits for approval because it blocks half of its data set. */
async function createWaitingRun({ key }: TestApp, client = key): Promise<Json> {
  await runImport(client, csv(HEAD, ...people(30)), 'dataset=hr');
  const run = await runImport(client, csv(HEAD, ...people(15)), 'dataset=hr&missing=block');
  expect(run.state).toBe('needs_approval');
  return run;
}

test('an unavailable drop folder is reported once, and the service stays ready', async () => {
  const settings = { ...getHookSettings(), IMPORT_FOLDER: join(database.folder, 'unmounted') };
  const app = await start(settings);
  await receiver.waitForAlerts(1);
  const data = { reason: 'ENOENT', last_available: null };
  expect(receiver.alerts[0]?.event).toMatchObject({ type: 'import.folder_lost', data });
  expect((await app.guest.fetch('GET', '/health/ready')).status).toBe(200);
  await stop(app);
  await restart(settings);
  expect(receiver.alerts).toHaveLength(1);
});

test('an import that waits for approval sends one signed alert', async () => {
  const app = await start({ ...getHookSettings(), BASE_URL: 'https://users.example.org/' });
  const run = await createWaitingRun(app);
  await receiver.waitForAlerts(1);
  const [{ headers, body, event }] = receiver.alerts as [(typeof receiver.alerts)[number]];
  const url = `https://users.example.org/console/imports/${run.id as string}`;
  const data = { id: run.id, url, dataset: 'hr', missing: { reported: 15, blocked: 15 } };
  expect(event).toMatchObject({ type: 'import.needs_approval', data });
  expect(event.data.guards.map(({ name }: Json) => name)).toContain('deactivations');
  expect(body).not.toContain('p-2');
  const signed = `${headers['webhook-id'] as string}.${headers['webhook-timestamp'] as string}.${body}`;
  expect(headers['webhook-id']).toBe(run.id);
  const signature = createHmac('sha256', KEY).update(signed).digest('base64');
  expect(headers['webhook-signature']).toBe(`v1,${signature}`);
  await stop(app);
  await restart();
  expect(receiver.alerts).toHaveLength(1);
});

test('each run that waits, fails or loses its key gets one log line and one alert', async () => {
  const lines: Json[] = [];
  const record = (message: string, fields: Json = {}): void => {
    if (message === 'import') lines.push(fields);
  };
  jest.spyOn(Log.prototype, 'warn').mockImplementation(record);
  const app = await start(getHookSettings());
  const master = await app.login();
  const { id: keyId, key } = (await master.post('/api_keys', { name: 'night' })).body;
  const client = app.key.with({ 'x-api-key': String(key) });
  const lost = await createWaitingRun(app, client);
  await receiver.waitForAlerts(1);
  await master.delete(`/api_keys/${String(keyId)}`);
  const failed = await runImport(app.key, csv('Secret', 'top'));
  await receiver.waitForAlerts(3);
  await stop(app);
  await restart();
  const sent = receiver.alerts.map(({ event: { type, data } }) => `${type} ${data.id} ${data.reason}`);
  expect(sent.sort()).toEqual([
    `import.cancelled ${lost.id} credential_revoked`,
    `import.failed ${failed.id} missing_column`,
    `import.needs_approval ${lost.id} null`,
  ]);
  expect(new Set(receiver.alerts.map(({ headers }) => headers['webhook-id'])).size).toBe(3);
  const file = { file: 'upload.csv', dataset: 'hr' };
  expect(new Set(lines)).toEqual(
    new Set([
      { run: lost.id, state: 'needs_approval', ...file, reason: expect.stringContaining('deactivations') },
      { run: lost.id, state: 'cancelled', ...file, reason: 'credential_revoked' },
      { run: failed.id, state: 'failed', ...file, dataset: 'default', reason: 'missing_column' },
    ]),
  );
});

test('a stopping service awaits the response to an alert', async () => {
  receiver.delayMillis = 300;
  const app = await start(getHookSettings());
  await createWaitingRun(app);
  await receiver.waitForAlerts(1);
  await stop(app);
  await restart();
  expect(receiver.alerts).toHaveLength(1);
});

test('a refused alert is resent with the same webhook-id', async () => {
  receiver.refusals = 1;
  const app = await start(getHookSettings());
  await createWaitingRun(app);
  await receiver.waitForAlerts(1);
  await stop(app);
  await start(getHookSettings());
  await receiver.waitForAlerts(2);
  const [first, second] = receiver.alerts;
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
});

test('the alert for an overdue import is sent only once', async () => {
  const settings = { ...getHookSettings(), IMPORT_OVERDUE_HOURS: '1', CONSOLE_ENABLED: 'false' };
  const app = await start(settings);
  await receiver.waitForAlerts(1);
  const data = { url: expect.stringMatching(/\/api\/0\.3\/imports$/), hours: 1, last_completed: null };
  expect(receiver.alerts[0]?.event).toMatchObject({ type: 'import.overdue', data });
  await stop(app);
  const next = await start(settings);
  for (const part of ['a', 'b']) await runImport(next.key, csv(HEAD, ...peopleOf(part, 1)), `part=${part}`);
  await stop(next);
  expect(receiver.alerts).toHaveLength(1);
  const last = await start(settings);
  await databaseOf(last).execute("DELETE FROM leases WHERE name = 'alerts.overdue'"); // as after a day
  await databaseOf(last).execute("UPDATE import_runs SET finished = ? WHERE part = 'a'", [inSeconds(-7200)]);
  await receiver.waitForAlerts(2);
  expect(receiver.alerts[1]?.event.data.missing_parts).toMatchObject([{ part: 'a' }]);
  await stop(last);
  expect(receiver.alerts).toHaveLength(2);
});

test('NOTIFY_COMMAND receives the alert but no service settings', async () => {
  const [command, seen] = [join(database.folder, 'tell'), join(database.folder, 'seen')];
  writeFileSync(command, `#!/bin/sh\n(cat; echo; env) > ${seen}.part && mv ${seen}.part ${seen}\n`);
  chmodSync(command, 0o755);
  const watcher = watch(database.folder);
  const run = await createWaitingRun(await start({ NOTIFY_COMMAND: command }));
  while (!existsSync(seen)) await once(watcher, 'change');
  watcher.close();
  const [body = '', ...env] = readFileSync(seen, 'utf8').split('\n');
  const sent: Json = JSON.parse(body);
  expect(sent.data.id).toBe(run.id);
  expect(env).toContain('ROLLCALL_EVENT=import.needs_approval');
  // Node.js itself passes NODE_V8_COVERAGE on, when coverage is recorded.
  const other = /^(?!PATH|PWD|SHLVL|_|ROLLCALL_EVENT|OLDPWD|NODE_V8_COVERAGE)\w+=/;
  expect(env.filter((line) => other.test(line))).toEqual([]);
});

test('the service does not start with NOTIFY_URL but without NOTIFY_SECRET', async () => {
  await expect(TestApp.startOn(database, { NOTIFY_URL: url })).rejects.toThrow('NOTIFY_SECRET is missing');
});

test("with IMPORT_FOUR_EYES, an API key and its creator cannot approve their own or each other's imports", async () => {
  const app = await start({ IMPORT_FOUR_EYES: 'true' });
  const master = await app.login();
  const createKey = async (creator: Client) => {
    const { key } = (await creator.post('/api_keys', { name: 'connector' })).body;
    return app.key.with({ 'x-api-key': key as string });
  };
  const key = await createKey(master);
  const child = await createKey(key);
  const { id } = await createWaitingRun(app, child);
  for (const one of [child, key, master])
    expect(problemOf(await one.post(`/imports/${id as string}/apply`))).toEqual([403, 'forbidden']);
  expect((await readRun(app.key, id)).state).toBe('needs_approval');
  expect((await app.key.post(`/imports/${id as string}/apply`)).status).toBe(202);
  await awaitRun(app.key, id);
  const ofMaster = await runImport(master, csv(HEAD, ...people(5)), 'dataset=hr&missing=block');
  expect(ofMaster.state).toBe('needs_approval');
  for (const one of [child, key])
    expect((await one.post(`/imports/${ofMaster.id as string}/apply`)).status).toBe(403);
});

test.each<[fourEyes: string, isRefused: string]>([
  ['true', 'cannot be approved by the key with scopes that uploaded it, nor by the creator of the key'],
  ['false', 'cannot be approved by the key with scopes that uploaded it'],
])('with IMPORT_FOUR_EYES=%s, a file in the drop folder %s', async (fourEyes) => {
  const drop = new TestDropFolder(join(database.folder, 'drop'));
  const schedule = { IMPORT_FOLDER: drop.folder, IMPORT_CRON: '0 0 1 1 *' };
  const options = { IMPORT_OPTIONS: 'dataset=hr&missing=block' };
  const app = await start({ IMPORT_FOUR_EYES: fourEyes, ...schedule, ...options });
  const master = await app.login();
  const created = await master.post('/api_keys', { name: 'connector', scopes: ['imports:write'] });
  const key = app.key.with({ 'x-api-key': created.body.key as string });
  await runImport(app.key, csv(HEAD, ...people(30)), 'dataset=hr');
  const take = async (): Promise<string> => {
    const { Results } = (await app.key.post('/imports/scheduled')).body;
    const run = await awaitRun(app.key, Results[0].run);
    expect([run.state, run.actor.kind]).toEqual(['needs_approval', 'system']);
    return run.id;
  };
  await addScheduledFile('hr.csv', key, csv(HEAD, ...people(15)));
  const uploaded = await take();
  await databaseOf(app).execute('DELETE FROM audit_events'); // as after AUDIT_RETENTION_DAYS
  for (const one of fourEyes === 'true' ? [key, master] : [key])
    expect(problemOf(await one.post(`/imports/${uploaded}/apply`))).toEqual([403, 'forbidden']);
  // Another program has written this file.
  drop.addFile('hr.csv', ...people(14));
  drop.markDone('hr.csv');
  expect((await master.post(`/imports/${await take()}/apply`)).status).toBe(202);
});

test('with IMPORT_FOUR_EYES, the sender can apply a dry run without guard hits', async () => {
  const app = await start({ IMPORT_FOUR_EYES: 'true' });
  const run = await runImport(app.key, csv(HEAD, ...people(3)), 'dry_run=true');
  expect((await app.key.post(`/imports/${run.id as string}/apply`)).status).toBe(202);
});
