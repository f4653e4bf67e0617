import { expect, test } from '@jest/globals';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestApp } from '../support/app/app.js';
import { ENGINE } from '../support/app/database.js';
import type { Client } from '../support/app/client.js';
import { aPerson, databaseOf, inSeconds } from '../support/app/people.js';
import { runCommand } from '../support/process/command.js';
import { type CommandResult, processDatabase } from '../support/process/process.js';

/** The findings of `rollcall doctor`. */
const database = processDatabase();

const SECRET = 'topsecret';
const onSqlite = ENGINE === 'sqlite' ? test : test.skip;

const doctor = (settings: Record<string, string> = {}) => runCommand(database, ['doctor'], settings);
const started = async (work?: (app: TestApp) => Promise<unknown>) => {
  const app = await TestApp.on(database);
  await work?.(app);
  await app.stop();
};

/** "level what" of every line, in order: each finding is one line with a text. */
function findings({ out, err }: CommandResult): string[] {
  expect(err).toBe('');
  return out
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [, level, what] = /^(ok|warn|fail) +(\S+(?: \S+)?) {2,}\S/.exec(line) ?? [];
      return level === undefined ? `unreadable: ${line}` : `${level} ${what}`;
    })
    .filter((found) => found !== 'warn host'); // the tests' own server does not wait for the disk
}

const SERVER = ENGINE === 'mariadb' ? ['ok database', 'ok connections', 'ok host'] : ['ok database'];
const MACHINE = ['ok node', 'ok settings', 'ok data folder', 'ok disk', 'ok address'];

test('all is well after the first start: only ok, exit code 0, and no probe is left behind', async () => {
  await started();
  const before = readdirSync(database.folder);
  const well = await doctor();
  expect(findings(well)).toEqual([
    ...MACHINE,
    ...SERVER,
    'ok migrations',
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
  // What is risky about it is a finding of --security alone.
  expect(well.out).toMatch(/api keys +1 usable, 0 of them limited by scopes\n/);
  expect(readdirSync(database.folder)).toEqual(before);
});

/** A database without tables; SQLite has one where there is an empty file. */
const emptyDatabase = (): void => {
  if (ENGINE === 'sqlite') writeFileSync(database.url.replace('sqlite:', ''), '');
};

onSqlite('a mistyped file is a failure, and is not made', async () => {
  const absent = await doctor();
  expect(findings(absent)).toEqual([...MACHINE, 'fail database', 'ok imports']);
  expect([absent.code, absent.out]).toEqual([1, expect.stringContaining('no database at /')]);
  expect(readdirSync(database.folder)).toEqual([]);
});

test('pending migrations give a warning, and missing tables are not read', async () => {
  emptyDatabase();
  const pending = await doctor({ MIGRATE_ON_START: 'false' });
  expect(findings(pending)).toEqual([...MACHINE, ...SERVER, 'warn migrations', 'ok imports']);
  expect([pending.code, pending.out]).toEqual([0, expect.stringContaining('run "rollcall migrate"')]);
});

test('a database without users or keys gives a warning: exit code 0', async () => {
  await runCommand(database, ['migrate']);
  const empty = await doctor();
  expect(findings(empty)).toEqual(expect.arrayContaining(['warn webmasters', 'warn api keys']));
  expect(empty.code).toBe(0);
  expect(empty.out).toContain('rollcall keys create NAME');
});

test.each(['revoked', 'expires'])(
  'keys that are all invalid (%s) are reported as not usable',
  async (column) => {
    await started((app) => databaseOf(app).execute(`UPDATE api_keys SET ${column} = ?`, [inSeconds(-1)]));
    expect(findings(await doctor())).toContain('warn api keys');
  },
);

test('keys of makers who are no Webmasters any more are listed, with the keys that were made with those', async () => {
  const ids = new Map<string, string>();
  await started(async (app) => {
    const make = async (client: Client, name: string): Promise<Client> => {
      const { body } = await client.post('/api_keys', { name, expires: '2999-01-31' });
      ids.set(name, body.id as string);
      return app.nobody.with({ 'x-api-key': body.key as string });
    };
    const webmaster = () => aPerson(app, { roles: ['Webmaster'] });
    const [kept, demoted, blocked] = [await webmaster(), await webmaster(), await webmaster()];
    await make(kept.client, 'of a Webmaster');
    const first = await make(demoted.client, 'of a demoted one');
    await make(first, 'made with that');
    await make(blocked.client, 'of a blocked one');
    await make(await make(app.key, 'of the first key'), 'made with the first key');
    await app.key.put(`/users/${demoted.user.uuid as string}`, { roles: ['Editor'] });
    await app.key.put(`/users/${blocked.user.uuid as string}`, { status: 'Blocked' });
  });
  const result = await doctor();
  expect(findings(result)).toContain('warn key creators');
  const line = result.out.split('\n').find((text) => text.includes('key creators')) ?? '';
  const listed = [...ids].filter(([, id]) => line.includes(id)).map(([name]) => name);
  expect(listed).toEqual(['of a demoted one', 'made with that', 'of a blocked one']);
  expect(line).toMatch(/ 3 created by users who are no longer active Webmasters: .*, then revoke them/);
  expect(result.code).toBe(0);
});

/** Databases that cannot be opened, each on its engine or on both, and what the finding says. */
const CLOSED: [what: string, engines: string[], url: () => string, message: RegExp][] = [
  [
    'an unreachable server',
    ['sqlite', 'mariadb'],
    () => `mysql://root:${SECRET}@127.0.0.1:1/rollcall`,
    /ECONNREFUSED.*Check DATABASE_URL/,
  ],
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
  '%s is one failure without a secret, and the other checks still run (%s)',
  async (_what, _engines, url, message) => {
    const refused = await doctor({ DATABASE_URL: url() });
    expect(findings(refused)).toEqual([...MACHINE, 'fail database', 'ok imports']);
    expect([refused.code, refused.out]).toEqual([1, expect.stringMatching(message)]);
    expect(refused.out).not.toContain(SECRET);
  },
);

test('a missing table is a failure of the database, and earlier findings are still reported', async () => {
  await started((app) => databaseOf(app).execute('DROP TABLE user_counts'));
  const broken = await doctor();
  expect(findings(broken)).toEqual([...MACHINE, ...SERVER, 'ok migrations', 'fail database', 'ok imports']);
  expect(broken.code).toBe(1);
});

test('every broken setting is a line that names the rule and not the value', async () => {
  const broken = await doctor({
    PORT: `7${SECRET}`,
    DATABASE_URL: `postgres://u:${SECRET}@h/d`,
    LOG_LEVEL: SECRET,
  });
  expect(new Set(findings(broken))).toEqual(new Set(['ok node', 'fail settings']));
  for (const rule of ['PORT must be', 'DATABASE_URL must be', 'LOG_LEVEL must be']) {
    expect(broken.out).toContain(rule);
  }
  expect(broken.code).toBe(1);
  expect(broken.out).not.toContain(SECRET);
});

test('a folder that cannot be written to is a failure', async () => {
  emptyDatabase();
  const file = join(database.folder, 'file');
  writeFileSync(file, '');
  const stuck = await doctor({ DATA_DIR: join(file, 'data') });
  expect(findings(stuck)).toEqual([
    ...['ok node', 'ok settings', 'fail data folder', 'warn disk', 'ok address'],
    ...SERVER,
    'warn migrations',
    'ok imports',
  ]);
  expect([stuck.code, stuck.out]).toEqual([
    1,
    expect.stringMatching(/ENOTDIR.*Change its owner, or set DATA_DIR/),
  ]);
});

test('a BASE_URL that is not https is reported without its password if other hosts can reach the service', async () => {
  const BASE_URL = `http://u:${SECRET}@people.example.org/app`;
  for (const HOST of ['0.0.0.0', '::']) {
    const open = await doctor({ BASE_URL, HOST });
    expect(findings(open)).toContain('warn address');
    expect(open.out).toContain('http://people.example.org/app is not https');
    expect(open.out).not.toContain(SECRET);
  }
  for (const HOST of ['127.0.0.1', '::1', 'localhost'])
    expect(findings(await doctor({ BASE_URL, HOST }))).toContain('ok address');
  const https = await doctor({ BASE_URL: 'https://people.example.org', HOST: '0.0.0.0' });
  expect(findings(https)).toContain('ok address');
});

test('the folder of scheduled imports is checked', async () => {
  const folder = join(database.folder, 'drop');
  expect(findings(await doctor({ IMPORT_FOLDER: folder }))).toContain('fail imports');
  mkdirSync(folder);
  expect(findings(await doctor({ IMPORT_FOLDER: folder }))).toContain('ok imports');
});

test('a wrong usage ends with 2, and --help lists the exit codes', async () => {
  expect((await runCommand(database, ['doctor', '--bogus'])).code).toBe(2);
  const { code, out } = await runCommand(database, ['doctor', '--help']);
  expect([code, out]).toEqual([
    0,
    expect.stringContaining('Exit codes: 0 no check failed, 1 a check failed'),
  ]);
});
