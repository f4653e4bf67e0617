import { expect, test } from '@jest/globals';
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Sealer } from '../../src/audit/sealer.service.js';
import { loadEnv } from '../../src/platform/config/env.js';
import { insertRows, tableOf } from '../../src/platform/database/engine/sql.js';
import { openDatabase } from '../../src/platform/database/engine/database.js';
import { openSnapshot } from '../../src/platform/database/engine/backup-connections.js';
import { DatabaseFiles } from '../../src/platform/database/sqlite/database-files.js';
import { Installation } from '../../src/platform/database/installation/installation.service.js';
import { ImportFilePartEntity, ImportRowEntity } from '../../src/import/runs/import.entity.js';
import { TestApp } from '../support/app/app.js';
import { TABLES, readContents } from '../support/app/backups.js';
import { ENGINE, type TestDatabase, createDatabase } from '../support/app/database.js';
import { awaitRun, csv, runImport } from '../support/app/imports.js';
import { create } from '../support/data/factories.js';
import { PASSWORD, aPerson, databaseOf } from '../support/app/people.js';
import { runCommand } from '../support/process/command.js';
import { Process, envOf, setUpDatabase } from '../support/process/process.js';
import { HOUR, eventAt, insertEvents, sealTimeAfter } from '../support/app/sealed-audit.js';

const database = setUpDatabase('first-start');
const run = (...args: string[]) => runCommand(database, args);
const fileOf = ({ folder }: TestDatabase) => join(folder, 'backup.gz');
const nameOf = ({ url }: TestDatabase) => url.replace(/^.*\//, '');

/** Runs work with a second database, and drops the database afterwards. */
async function withSecond(work: (other: TestDatabase) => Promise<void>): Promise<void> {
  const other = await createDatabase();
  await work(other).finally(() => other.drop());
}

/** Inserts random bytes, which do not compress, so that a backup takes a while. */
async function fill(app: TestApp, parts: number): Promise<void> {
  for (let part = 0; part < parts; part++) {
    const bytes = randomBytes(750_000).toString('base64');
    await insertRows(databaseOf(app), ImportFilePartEntity, [{ run_id: 'f'.repeat(36), part, bytes }]);
  }
}

/** Inserts a row with a megabyte in each long column, with characters of every length and characters that SQL escapes. */
async function insertLongRows(app: TestApp): Promise<void> {
  const rows = ['x', '\\', "'\n", '\u{1f600}', '\u20ac'].map((letter, index) => {
    const long = letter.repeat(1024 ** 2 / Buffer.byteLength(letter));
    return ['f'.repeat(36), index, 'error', 'x', '', null, 0, 0, long, long, long, ''];
  });
  await databaseOf(app).insert(tableOf(ImportRowEntity), rows);
}

/** Reads the epoch and the contents of a restored database, without the audit events and the epoch of its restores. */
async function readRestored(restored: TestDatabase): Promise<[number, Record<string, string[]>]> {
  const { installation = [], audit_events = [], ...tables } = await readContents(restored);
  const [id, epoch] = JSON.parse(installation[0] ?? '') as [string, number];
  const events = audit_events.filter((event) => !event.includes('"database.restored"'));
  expect(audit_events.length - events.length).toBe(epoch);
  return [epoch, { ...tables, audit_events: events, installation: [JSON.stringify([id, 0])] }];
}

/** Runs statements on the database of a stopped service. */
async function execute({ url }: TestDatabase, ...statements: string[]): Promise<void> {
  const opened = await openDatabase(loadEnv({ DATABASE_URL: url }));
  for (const sql of statements) await opened.execute(sql);
  await opened.close();
}

const ODD = 'Ω ü é "q" \\ ; , | \u2028 😀 \'x\' %_ NULL \\N';

test('a restored backup contains every row except sessions', async () => {
  const app = await TestApp.startOn(database);
  const { user, client } = await aPerson(app, { about_me: `${ODD}\n2`, firstname: 'Zoë' });
  await create(app.key, { manager_uuid: user.uuid, roles: ['Webmaster'], email: 'zoë@example.org' });
  await insertLongRows(app);
  await insertEvents(databaseOf(app), [eventAt(Date.now() - 3 * HOUR)]);
  await app.app.get(Sealer).sealEndedHours();
  expect((await client.get('/users/me')).status).toBe(200);
  const made = await run('backup', fileOf(database));
  expect([made.code, made.out]).toEqual([0, expect.stringMatching(/^.*backup\.gz: \d+ rows of \d+ tables/)]);
  expect(statSync(fileOf(database)).mode & 0o777).toBe(0o600);
  await app.stop();
  const before = await readContents(database);
  expect(before['users']).toHaveLength(3);

  // From this engine to SQLite, and back.
  const file: TestDatabase = { ...database, url: `sqlite:${join(database.folder, 'other.sqlite')}` };
  const there = await runCommand(file, ['restore', fileOf(database)]);
  expect([there.code, there.err]).toEqual([0, expect.stringContaining('other.sqlite')]);
  expect(await readRestored(file)).toEqual([1, before]);
  const second = join(database.folder, 'second.gz');
  expect((await runCommand(file, ['backup', second])).code).toBe(0);

  await withSecond(async (other) => {
    const restored = await runCommand(other, ['restore', second]);
    expect(restored.err).not.toMatch(/cannot/);
    expect(restored.code).toBe(0);
    expect(restored.out).toMatch(/the audit matches its seals +ok/);
    expect(restored.out).not.toContain('BAD');
    expect(await readRestored(other)).toEqual([2, before]);
    expect((await runCommand(other, ['audit', 'verify'])).code).toBe(0);
    const next = await TestApp.startOn(other);
    const again = await next.login(user.username, PASSWORD);
    expect((await again.get('/users/me')).body.about_me).toBe(`${ODD}\n2`);
    expect((await next.guest.get('/users/me', { cookie: client.headers['cookie'] ?? '' })).status).toBe(401);
    await next.app.get(Sealer).sealEndedHours(sealTimeAfter(1));
    await next.stop();
    expect((await runCommand(other, ['audit', 'verify'])).out).toMatch(/^OK .*\n +0 events are not sealed/);
  });
});

test('a backup excludes changes committed while it reads the tables', async () => {
  const app = await TestApp.startOn(database);
  await create(app.key);
  await using snapshot = await openSnapshot(loadEnv({ DATABASE_URL: database.url }));
  const count = (table: string) => snapshot.queryNumber(`SELECT COUNT(*) FROM ${table}`);
  const before = [await count('users')];
  const { uuid } = await create(app.key);
  await app.key.put(`/users/${uuid}`, { roles: ['Webmaster'] });
  const rows: unknown[] = [];
  for (const table of TABLES) {
    for await (const batch of snapshot.streamRows(table)) rows.push(...batch);
  }
  expect(JSON.stringify(rows)).not.toContain(uuid);
  expect(await count('users')).toBe(before[0]);
  expect(await count('user_roles')).toBe(before[0]);
  await app.stop();
});

test('a backup of a busy service is consistent and blocks no writes', async () => {
  const app = await TestApp.startOn(database);
  await fill(app, 10);
  let going = true;
  const writer = async (): Promise<number> => {
    let written = 0;
    for (; going; written++) await create(app.key);
    return written;
  };
  const writers = [writer(), writer()];
  const made = await run('backup', fileOf(database));
  going = false;
  const written = (await Promise.all(writers)).reduce((sum, count) => sum + count);
  await app.stop();
  expect(made.code).toBe(0);
  expect(written).toBeGreaterThan(2);
  await withSecond(async (other) => {
    const { code, out, err } = await runCommand(other, ['restore', fileOf(database)]);
    expect([code, out.includes('BAD'), err]).toEqual([0, false, expect.not.stringContaining('cannot')]);
    const { users, audit_events: events } = await readContents(other);
    expect(events?.filter((event) => event.includes('"user.created"'))).toHaveLength(users?.length ?? 0);
  });
});

test('backup and restore overwrite data only with --force or --replace', async () => {
  const app = await TestApp.startOn(database);
  await create(app.key);
  expect((await run('backup', fileOf(database))).code).toBe(0);
  const again = await run('backup', fileOf(database));
  expect([again.code, again.err]).toEqual([2, expect.stringContaining('Use --force to overwrite it')]);
  // The service claims a SQLite file. The application of this test does not.
  const claimed =
    ENGINE === 'sqlite' ? DatabaseFiles.claim(join(database.folder, 'rollcall.sqlite')) : undefined;
  const running = await run('restore', fileOf(database), '--replace', nameOf(database));
  expect(running.code).toBe(2);
  expect(running.err).toMatch(/is in use: stop the service|Another service or command uses the database/);
  claimed?.release();
  await create(app.key);
  await app.stop();
  const later = await readContents(database);
  for (const [args, message] of [
    [[], `is not empty. To replace its contents, pass --replace ${nameOf(database)}`],
    [['--replace', 'other'], '--replace names other'],
  ] as const) {
    const refused = await runCommand(database, ['restore', fileOf(database), ...args]);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining(message)]);
  }
  expect(await readContents(database)).toEqual(later);
  const done = await runCommand(database, ['restore', fileOf(database), '--replace', nameOf(database)]);
  expect([done.code, done.err]).toEqual([0, expect.stringContaining('Restoring into')]);
  expect((await readContents(database))['users']).toHaveLength(2);
});

test('a restore ends sessions and unfinished imports, and lists keys that are valid again', async () => {
  const app = await TestApp.startOn(database);
  const user = await create(app.key, { password: PASSWORD });
  const keys = ['revoked before', 'revoked later', 'in use'].map((name) =>
    app.key.post('/api_keys', { name }),
  );
  const [first, second, third] = (await Promise.all(keys)).map(({ body }) => body.id);
  await app.key.delete(`/api_keys/${first}`);
  const ids: Record<string, string> = {};
  for (const name of ['planned', 'queued', 'applying', 'completed']) {
    const file = csv('ExternalId,Username,Email', `${name},${name},${name}@example.org`);
    ids[name] = (await runImport(app.key, file, `dataset=${name}&dry_run=${name !== 'completed'}`)).id;
  }
  await app.stop();
  await execute(database, 'UPDATE import_runs SET state = dataset', 'UPDATE installation SET epoch = 4');
  expect((await run('backup', fileOf(database))).code).toBe(0);
  const planned = "UPDATE import_runs SET state = 'planned' WHERE state <> 'completed'";
  await execute(database, planned, 'UPDATE installation SET epoch = 6');
  const later = await TestApp.startOn(database);
  await later.key.delete(`/api_keys/${second}`);
  const { headers } = await later.login(user.username, PASSWORD);
  await later.stop();
  const { code, out } = await run('restore', fileOf(database), '--replace', nameOf(database));
  expect([code, [first, second, third].map((id) => out.includes(id))]).toEqual([0, [false, true, false]]);

  const after = await TestApp.startOn(database);
  expect((await after.key.get(`/users/${user.uuid}`)).headers['etag']).toBe('"1-7.0.full"');
  expect((await after.guest.get('/users/me', headers)).status).toBe(401);
  for (const [name, id] of Object.entries(ids)) {
    const { state, problems } = await awaitRun(after.key, id);
    const expected = name === 'completed' ? [name] : ['cancelled', 'database_restored'];
    expect([state, ...problems.map((problem: { code: string }) => problem.code)]).toEqual(expected);
  }
  const [event] = (await after.key.get('/audit?action=database.restored')).body.Results;
  expect(event).toMatchObject({
    actor: { kind: 'system' },
    target: { kind: 'installation', id: after.app.get(Installation).id },
    changes: [{ field: 'epoch', old: 4, new: 7 }, { field: 'backup' }],
    ip: expect.stringMatching(/^unix:./),
  });
  await after.stop();
  await withSecond(async (other) => {
    const moved = await runCommand(other, ['restore', fileOf(database)]);
    expect(moved.out).toMatch(/API keys that were revoked after \S+Z are valid again/);
  });
});

test('restore and restore --check reject a damaged backup file', async () => {
  await (await TestApp.startOn(database)).stop();
  await run('backup', fileOf(database));
  const good = await run('restore', '--check', fileOf(database));
  expect([good.code, good.out]).toEqual([0, expect.stringContaining('complete')]);
  const bytes = readFileSync(fileOf(database));
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
  writeFileSync(fileOf(database), bytes);
  const before = await readContents(database);
  for (const args of [['--check'], ['--replace', nameOf(database)]]) {
    const bad = await run('restore', fileOf(database), ...args);
    expect([bad.code, bad.err]).toEqual([2, expect.stringContaining('is damaged or not a backup')]);
  }
  expect(await readContents(database)).toEqual(before);
});

test('a killed backup keeps its target file, and the next backup deletes its temporary file', async () => {
  const app = await TestApp.startOn(database);
  await fill(app, 20);
  await app.stop();
  const listParts = () => readdirSync(database.folder).filter((name) => name.endsWith('.part'));
  const settings = { ...envOf(database), DATABASE_URL: database.url };
  for (const before of [undefined, 'the backup of yesterday']) {
    if (before !== undefined) writeFileSync(fileOf(database), before);
    const backup = Process.startCommand(['backup', '--force', fileOf(database)], settings);
    while (!listParts().some((name) => name.includes(`-${backup.pid}.`))) await new Promise(setImmediate);
    backup.signal('SIGKILL');
    expect((await backup.exit).signal).toBe('SIGKILL');
    expect(existsSync(fileOf(database)) ? readFileSync(fileOf(database), 'utf8') : undefined).toBe(before);
  }
  expect(listParts()).toHaveLength(1);
  expect((await run('backup', `${fileOf(database)}.next`)).code).toBe(0);
  expect(listParts()).toEqual([]);
});

test('a killed restore changes nothing and can be repeated', async () => {
  const app = await TestApp.startOn(database);
  await fill(app, 20);
  await run('backup', fileOf(database));
  await app.stop();
  const whole = await readContents(database);
  await withSecond(async (seeded) => {
    const second = await TestApp.startOn(seeded);
    await create(second.key);
    await second.stop();
    const before = await readContents(seeded);
    const args = ['restore', fileOf(database), '--replace', nameOf(seeded)];
    const restore = Process.startCommand(args, { ...envOf(seeded), DATABASE_URL: seeded.url });
    await restore.waitForOutput('Restoring into');
    const ended: unknown[] = [];
    void restore.exit.then((exit) => ended.push(exit));
    while (ended.length === 0 && !(await hasBegun(seeded))) await new Promise(setImmediate);
    restore.signal('SIGKILL');
    expect((await restore.exit).signal).toBe('SIGKILL');
    expect(await readContents(seeded)).toEqual(before);
    // The server may need a moment to end the session of the killed restore.
    for (let tries = 0; ; tries++) {
      const again = await runCommand(seeded, args);
      if (again.code === 0) break;
      expect([again.err, tries < 20]).toEqual([expect.stringContaining('in use'), true]);
    }
    expect(await readRestored(seeded)).toEqual([1, whole]);
  });
});

/** Returns true if the transaction of a restore has written rows. */
async function hasBegun({ url }: TestDatabase): Promise<boolean> {
  if (ENGINE === 'sqlite') {
    const log = `${url.replace('sqlite:', '')}-wal`;
    return (statSync(log, { throwIfNoEntry: false })?.size ?? 0) > 100_000;
  }
  await using snapshot = await openSnapshot(loadEnv({ DATABASE_URL: url }));
  const inserts = await snapshot.queryNumber(
    "SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE() AND info LIKE 'INSERT INTO import_file_parts%'",
  );
  return inserts > 0;
}
