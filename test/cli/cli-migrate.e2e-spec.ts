import { expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { MIGRATIONS } from '../../src/platform/database/migrations/migrations.js';
import { TestApp } from '../support/app/app.js';
import { runCommand } from '../support/process/command.js';
import { ROOT, envOf, setUpDatabase } from '../support/process/process.js';

const database = setUpDatabase();

const MANUAL = { MIGRATE_ON_START: 'false' };
const ALL = MIGRATIONS.map(({ name }) => `migrated ${name}\n`).join('');

test('rollcall migrate prints the applied migrations', async () => {
  expect(await runCommand(database, ['migrate'], MANUAL)).toMatchObject({ code: 0, out: ALL, err: '' });
  const again = await runCommand(database, ['migrate'], MANUAL);
  expect(again).toMatchObject({ code: 0, out: 'nothing to migrate\n', err: '' });
  const app = await TestApp.startOn(database, MANUAL);
  expect((await app.key.get('/users/search')).body.Count).toBe(1);
  await app.stop();
});

test('npm run migration:run migrates the database like rollcall migrate', () => {
  const { url, folder } = database;
  const env = { PATH: process.env['PATH'], HOME: folder, ...envOf(database), DATABASE_URL: url };
  const out = execFileSync('npm', ['run', '--silent', 'migration:run'], { cwd: ROOT, env, encoding: 'utf8' });
  expect(out).toBe(ALL);
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
