import { expect, test } from '@jest/globals';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDraftPath } from '../../src/platform/common/draft-file.js';
import { TestApp } from '../support/app/app.js';
import { ENGINE, onSqlite } from '../support/app/database.js';
import type { Client } from '../support/app/client.js';
import { damageTable } from '../support/app/damage.js';
import { aPerson, databaseOf, inSeconds } from '../support/app/people.js';
import { runCommand } from '../support/process/command.js';
import { type CommandResult, setUpDatabase } from '../support/process/process.js';

/** The findings of `rollcall doctor`. */
const database = setUpDatabase();

const SECRET = 'topsecret';

const runDoctor = (settings: Record<string, string> = {}) => runCommand(database, ['doctor'], settings);
const runOnce = async (work?: (app: TestApp) => Promise<unknown>) => {
  const app = await TestApp.startOn(database);
  await work?.(app);
  await app.stop();
};

/** Returns the level and the name of every finding, in order. Each finding is one line with a text. */
function parseOut({ out, err }: CommandResult): string[] {
  expect(err).toBe('');
  return out
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [, level, what] = /^(ok|warn|fail) +(\S+(?: \S+)?) {2,}\S/.exec(line) ?? [];
      return level === undefined ? `unreadable: ${line}` : `${level} ${what}`;
    })
    .filter((found) => found !== 'warn host'); // the test server does not wait for the disk
}

const SERVER = ENGINE === 'mariadb' ? ['ok database', 'ok connections', 'ok host'] : ['ok database'];
const CONTENT = ['ok pages', 'ok references', 'ok writes', 'ok clock'];
const MACHINE = ['ok node', 'ok settings', 'ok data folder', 'ok disk', 'ok address'];

test('doctor reports only ok findings after the first start', async () => {
  await runOnce();
  const before = readdirSync(database.folder);
  writeFileSync(createDraftPath(database.folder), '');
  const well = await runDoctor();
  expect(parseOut(well)).toEqual([
    ...MACHINE,
    ...SERVER,
    'ok migrations',
    ...CONTENT,
    'ok webmasters',
    'ok api keys',
    'ok imports',
  ]);
  expect(well.code).toBe(0);
  expect(well.out).toMatch(ENGINE === 'mariadb' ? /database +\d+\.\d+\.\d+/ : /database +SQLite 3\.\d+/);
  if (ENGINE === 'mariadb')
    expect(well.out).toMatch(
      /host +127\.0\.0\.1:\d+ +1\d\.\S+ +no cluster, writable +innodb_flush_log_at_trx_commit=\d /,
    );
  expect(well.out).toMatch(/webmasters +1 active\n/);
  expect(well.out).toMatch(/api keys +1 usable, 0 of them limited by scopes\n/);
  expect(readdirSync(database.folder).filter((name) => !name.endsWith('-owner'))).toEqual(before);
});

/** Creates a database without tables, which on SQLite is an empty file. */
const createEmptyDatabase = (): void => {
  if (ENGINE === 'sqlite') writeFileSync(database.url.replace('sqlite:', ''), '');
};

onSqlite('doctor reports a missing database file as a failure and does not create it', async () => {
  const absent = await runDoctor();
  expect(parseOut(absent)).toEqual([...MACHINE, 'fail database', 'ok imports']);
  expect([absent.code, absent.out]).toEqual([1, expect.stringContaining('no database at /')]);
  expect(readdirSync(database.folder)).toEqual([]);
});

test('doctor reports pending migrations as a warning', async () => {
  createEmptyDatabase();
  const pending = await runDoctor({ MIGRATE_ON_START: 'false' });
  expect(parseOut(pending)).toEqual([...MACHINE, ...SERVER, 'warn migrations', 'ok imports']);
  expect([pending.code, pending.out]).toEqual([0, expect.stringContaining('run "rollcall migrate"')]);
});

test('doctor warns about a database without users or keys', async () => {
  await runCommand(database, ['migrate']);
  const empty = await runDoctor();
  expect(parseOut(empty)).toEqual(expect.arrayContaining(['warn webmasters', 'warn api keys']));
  expect(empty.code).toBe(0);
  expect(empty.out).toContain('rollcall keys create NAME');
});

test.each(['revoked', 'expires'])('doctor warns if every API key has a past time in %s', async (column) => {
  await runOnce((app) => databaseOf(app).execute(`UPDATE api_keys SET ${column} = ?`, [inSeconds(-1)]));
  expect(parseOut(await runDoctor())).toContain('warn api keys');
});

test('doctor lists API keys that were created by former Webmasters', async () => {
  const ids = new Map<string, string>();
  await runOnce(async (app) => {
    const createKey = async (client: Client, name: string): Promise<Client> => {
      const { body } = await client.post('/api_keys', { name, expires: '2999-01-31' });
      ids.set(name, body.id as string);
      return app.guest.with({ 'x-api-key': body.key as string });
    };
    const aWebmaster = () => aPerson(app, { roles: ['Webmaster'] });
    const [kept, demoted, blocked] = [await aWebmaster(), await aWebmaster(), await aWebmaster()];
    await createKey(kept.client, 'of a Webmaster');
    const first = await createKey(demoted.client, 'of a demoted user');
    await createKey(first, 'created with that key');
    await createKey(blocked.client, 'of a blocked user');
    await createKey(await createKey(app.key, 'of the first key'), 'created with the first key');
    await app.key.put(`/users/${demoted.user.uuid as string}`, { roles: ['Editor'] });
    await app.key.put(`/users/${blocked.user.uuid as string}`, { status: 'Blocked' });
  });
  const result = await runDoctor();
  expect(parseOut(result)).toContain('warn key creators');
  const line = result.out.split('\n').find((text) => text.includes('key creators')) ?? '';
  const listed = [...ids].filter(([, id]) => line.includes(id)).map(([name]) => name);
  expect(listed).toEqual(['of a demoted user', 'created with that key', 'of a blocked user']);
  expect(line).toMatch(
    / 3 created by users who are no longer active Webmasters: .*\. Replace them if they are needed, then revoke them/,
  );
  expect(result.code).toBe(0);
});

const UNREACHABLE = `mysql://root:${SECRET}@127.0.0.1:1/rollcall`;
/** Databases that cannot be opened, with the engines for which they are tested and the text of the finding. */
const CLOSED: [what: string, engines: string[], url: () => string, message: RegExp][] = [
  ['an unreachable server', ['sqlite', 'mariadb'], () => UNREACHABLE, /ECONNREFUSED.*Check DATABASE_URL/],
  [
    'a wrong password',
    ['mariadb'],
    () => Object.assign(new URL(database.url), { username: 'nobody_here', password: SECRET }).href,
    /ER_ACCESS_DENIED_ERROR/,
  ],
  [
    'a file that is not a database',
    ['sqlite'],
    () => {
      writeFileSync(database.url.slice('sqlite:'.length), 'no database '.repeat(500));
      return database.url;
    },
    /SQLITE_NOTADB.*who owns it/,
  ],
];
test.each(CLOSED.filter(([, engines]) => engines.includes(ENGINE)))(
  'doctor reports %s as a failure and prints no password',
  async (_what, _engines, url, message) => {
    const refused = await runDoctor({ DATABASE_URL: url() });
    expect(parseOut(refused)).toEqual([...MACHINE, 'fail database', 'ok imports']);
    expect([refused.code, refused.out]).toEqual([1, expect.stringMatching(message)]);
    expect(refused.out).not.toContain(SECRET);
  },
);

test('doctor reports a damaged table as a failure', async () => {
  await runOnce();
  await damageTable(database, 'import_profiles');
  const damaged = await runDoctor();
  expect(parseOut(damaged)).toContain('fail pages');
  expect([damaged.code, damaged.out]).toEqual([1, expect.stringContaining('restore a backup')]);
});

test('doctor reports rows that refer to missing users', async () => {
  const role =
    "INSERT INTO user_roles (user_uuid, role) VALUES ('00000000-0000-4000-8000-00000000dead', 'Editor')";
  await runOnce(async (app) => {
    if (ENGINE === 'sqlite') await databaseOf(app).query('PRAGMA foreign_keys = OFF');
    await databaseOf(app).execute(role);
  });
  const orphan = await runDoctor();
  expect(parseOut(orphan)).toContain('fail references');
  expect([orphan.code, orphan.out]).toEqual([1, expect.stringContaining('roles belong to users: 1 faulty')]);
});

test('doctor reports a missing table as a database failure', async () => {
  await runOnce((app) => databaseOf(app).execute('DROP TABLE user_counts'));
  const broken = await runDoctor();
  const failed = ENGINE === 'mariadb' ? ['fail pages', 'fail database'] : ['fail database'];
  expect(parseOut(broken)).toEqual([...MACHINE, ...SERVER, 'ok migrations', ...failed, 'ok imports']);
  expect(broken.code).toBe(1);
});

test('doctor reports every invalid or misspelt setting without the value', async () => {
  const broken = await runDoctor({
    PORT: `7${SECRET}`,
    DATABASE_URL: `postgres://u:${SECRET}@h/d`,
    LOG_LEVEL: SECRET,
    DATABSE_URL: SECRET,
  });
  expect(new Set(parseOut(broken))).toEqual(new Set(['ok node', 'warn settings', 'fail settings']));
  for (const rule of ['PORT must be', 'DATABASE_URL must be', 'LOG_LEVEL must be', 'DATABSE_URL is']) {
    expect(broken.out).toContain(rule);
  }
  expect(broken.code).toBe(1);
  expect(broken.out).not.toContain(SECRET);
});

test('doctor reports an unwritable DATA_DIR as a failure', async () => {
  createEmptyDatabase();
  const file = join(database.folder, 'file');
  writeFileSync(file, '');
  const stuck = await runDoctor({ DATA_DIR: join(file, 'data') });
  expect(parseOut(stuck)).toEqual([
    ...['ok node', 'ok settings', 'fail data folder', 'warn disk', 'ok address'],
    ...SERVER,
    'warn migrations',
    'ok imports',
  ]);
  expect(stuck.code).toBe(1);
  expect(stuck.out).toMatch(/ENOTDIR.*Change its owner, or set DATA_DIR/);
});

test('doctor warns about a BASE_URL without https if other hosts can connect', async () => {
  const BASE_URL = `http://u:${SECRET}@people.example.org/app`;
  for (const HOST of ['0.0.0.0', '::']) {
    const open = await runDoctor({ BASE_URL, HOST });
    expect(parseOut(open)).toContain('warn address');
    expect(open.out).toContain('http://people.example.org/app is not https');
    expect(open.out).not.toContain(SECRET);
  }
  for (const HOST of ['127.0.0.1', '::1', 'localhost'])
    expect(parseOut(await runDoctor({ BASE_URL, HOST }))).toContain('ok address');
  const https = await runDoctor({ BASE_URL: 'https://people.example.org', HOST: '0.0.0.0' });
  expect(parseOut(https)).toContain('ok address');
});

test('doctor reports a missing IMPORT_FOLDER as a failure', async () => {
  const folder = join(database.folder, 'drop');
  expect(parseOut(await runDoctor({ IMPORT_FOLDER: folder }))).toContain('fail imports');
  mkdirSync(folder);
  expect(parseOut(await runDoctor({ IMPORT_FOLDER: folder }))).toContain('ok imports');
});
