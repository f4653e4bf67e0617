import { expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MIGRATIONS } from '../../src/platform/database/migrations/migrations.js';
import { TestApp } from '../support/app/app.js';
import { runCommand } from '../support/process/command.js';
import { ROOT, envOf, setUpDatabase } from '../support/process/process.js';

const database = setUpDatabase();

const MANUAL = { MIGRATE_ON_START: 'false' };
const ALL = MIGRATIONS.map(({ name }) => `migrated ${name}\n`).join('');

test('rollcall migrate prints the applied migrations', async () => {
  expect(await runCommand(database, ['migrate'], MANUAL)).toMatchObject({ code: 0, out: ALL, err: '' });
  expect(await runCommand(database, ['migrate'], MANUAL)).toMatchObject({
    code: 0,
    out: 'nothing to migrate\n',
    err: '',
  });
  const app = await TestApp.startOn(database, MANUAL);
  expect((await app.key.get('/users/search')).body.Count).toBe(1);
  await app.stop();
});

test('npm run migration:run migrates the database like rollcall migrate', () => {
  const env = {
    PATH: process.env['PATH'],
    HOME: database.folder,
    ...envOf(database),
    DATABASE_URL: database.url,
  };
  const out = execFileSync('npm', ['run', '--silent', 'migration:run'], { cwd: ROOT, env, encoding: 'utf8' });
  expect(out).toBe(ALL);
});

test.each([
  [
    'an unreachable server',
    { DATABASE_URL: 'mysql://root:topsecret@127.0.0.1:1/rollcall' },
    /127\.0\.0\.1:1/,
  ],
  ['an invalid setting', { DATABASE_URL: 'postgres://u:topsecret@h/d' }, /DATABASE_URL must be/],
])('rollcall migrate reports %s without printing the password', async (_what, settings, message) => {
  const { code, out, err } = await runCommand(database, ['migrate'], settings);
  expect([code, out]).toEqual([2, '']);
  expect(err).toMatch(/^rollcall failed\. /);
  expect(err).toMatch(message);
  expect(err).not.toMatch(/topsecret|^\s+at /m);
});

test('rollcall migrates nothing if the command or an option is unknown', async () => {
  for (const [args, message] of [
    [['migrate', '--bogus'], "unknown option '--bogus'"],
    [['migrate', 'extra'], 'too many arguments'],
    [['bogus'], "unknown command 'bogus'"],
    [['--bogus'], "unknown option '--bogus'"],
    [[], 'Usage: rollcall'],
  ] as const) {
    const { code, out, err } = await runCommand(database, args, MANUAL);
    expect([args, code, out]).toEqual([args, 2, '']);
    expect([args, err]).toEqual([args, expect.stringContaining(message)]);
  }
  expect((await runCommand(database, ['migrate'], MANUAL)).out).toBe(ALL);
});

test('rollcall --version prints the version', async () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const { code, out, err } = await runCommand(database, ['--version']);
  expect({ code, out, err }).toEqual({ code: 0, out: `${version}\n`, err: '' });
});

test.each([[['--help']], [['migrate', '--help']]])('rollcall %j lists the exit codes', async (args) => {
  const { code, out, err } = await runCommand(database, args);
  expect([code, err]).toEqual([0, '']);
  expect(out).toContain('Exit codes: 0 done');
});
