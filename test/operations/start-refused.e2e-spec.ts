import { expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ENGINE, onMariadb } from '../support/app/database.js';
import { Process, ROOT, type Script, envOf, setUpDatabase, splitErrors } from '../support/process/process.js';

/** Messages of the service and of `rollcall migrate` when they cannot start. */
const database = setUpDatabase();

const SECRET = 'topsecret';
const SCRIPTS: Script[] = ['dist/main.js', 'dist/cli.js migrate'];
/** Returns the exit code of a failed start: 1 for the service, 2 for a command that did nothing. */
const exitCodeOf = (script: Script) => (script === 'dist/main.js' ? 1 : 2);
const runToEnd = async (script: Script, settings: Record<string, string>) => {
  const run = new Process(script, { ...envOf(database), ...settings });
  return { exit: await run.exit, out: run.out, err: run.err };
};
/** Expects a short message without a stack, source lines or colours. */
const expectPlain = (text: string) => {
  expect(text).not.toMatch(/^\s+(?:\S+\[\d+m)*at /m);
  expect(text).not.toMatch(/node_modules|node:|\.ts:\d|throw new/);
  expect(text.split('\n').length).toBeLessThan(30);
};

/** Settings with an invalid value and the expected message. `unit/env` tests all rules. */
const BAD: [string, string, RegExp][] = [
  ['PORT', `7${SECRET}`, /PORT must be an integer/],
  ['DATABASE_URL', `postgres://u:${SECRET}@h/d`, /DATABASE_URL must be sqlite:<file> or mysql:/],
  ['BOOTSTRAP_API_KEY', SECRET, /BOOTSTRAP_API_KEY must be 32 to 128 printable/],
  ['BOOTSTRAP_WEBMASTER_PASSWORD', 'pass-77', /must be a good password: it must have at least 12/],
];

test.each(SCRIPTS)('%s reports every invalid setting without its value', async (script) => {
  const run = await runToEnd(script, Object.fromEntries(BAD.map(([name, value]) => [name, value])));
  expect(run.exit).toEqual({ code: exitCodeOf(script), signal: null });
  for (const [, , rule] of BAD) expect(run.err).toMatch(rule);
  expect(run.out + run.err).not.toContain(SECRET);
  expect(run.out + run.err).not.toContain('pass-77');
  expectPlain(run.err);
});

/** Values that contain common passwords. */
test.each([
  ['BOOTSTRAP_WEBMASTER_PASSWORD', 'dragon-monkey'],
  ['BOOTSTRAP_API_KEY', 'correct-horse-battery-staple-2024'],
])('the first start rejects a %s that is easy to guess', async (name, value) => {
  const run = await runToEnd('dist/main.js', { [name]: value });
  expect(run.exit).toEqual({ code: 1, signal: null });
  expect(run.err).toMatch(new RegExp(`${name} must be`));
  expect(run.out + run.err).not.toContain(value);
  expectPlain(run.err);
  // Nothing was created, so the next start without the value is a first start again.
  expect((await Process.startService(envOf(database))).err).toContain('Password');
});

test.each([
  ['an invalid port', `mysql://root:${SECRET}@127.0.0.1:99999/rollcall`],
  ['a stray percent sign', `mysql://root:${SECRET}%@127.0.0.1:3306/rollcall`],
])('the error for a DATABASE_URL with %s hides the value', async (_what, url) => {
  const run = await runToEnd('dist/main.js', { DATABASE_URL: url });
  expect(run.exit).toEqual({ code: 1, signal: null });
  expect(run.err).toContain('DATABASE_URL');
  expect(run.out + run.err).not.toContain(SECRET);
  expectPlain(run.err);
});

test.each(SCRIPTS)('%s reports an unreachable database and prints no password', async (script) => {
  const run = await runToEnd(script, { DATABASE_URL: `mysql://root:${SECRET}@127.0.0.1:1/rollcall` });
  expect(run.exit).toEqual({ code: exitCodeOf(script), signal: null });
  expect(run.err).toContain('127.0.0.1:1');
  expect(run.out + run.err).not.toContain(SECRET);
  expectPlain(run.err);
});

onMariadb(
  'with MIGRATE_ON_START=auto, an empty MariaDB is migrated only by the command in the error',
  async () => {
    const settings = { MIGRATE_ON_START: 'auto' };
    const refused = await runToEnd('dist/main.js', settings);
    expect(refused.exit).toEqual({ code: 1, signal: null });
    expect(refused.err).toContain('npm run migration:run');
    expect(refused.err).toContain('MIGRATE_ON_START=true');
    expect(refused.out).toBe('');
    expectPlain(refused.err);

    const migrated = await runToEnd('dist/cli.js migrate', settings);
    expect([migrated.exit.code, splitErrors(migrated.err).err]).toEqual([0, '']);
    expect(migrated.out).toMatch(/^migrated \w+\nmigrated \w+\n/);
    expect(await runToEnd('dist/cli.js migrate', settings)).toMatchObject({ out: 'nothing to migrate\n' });

    expect((await Process.startService({ ...envOf(database), ...settings })).err).toContain('Password');
  },
);

test('the settings in .env apply to the service and to rollcall migrate', async () => {
  const { folder } = database;
  const url = ENGINE === 'mariadb' ? database.url : `sqlite:${join(folder, 'elsewhere', 'users.sqlite')}`;
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, '.env'), `DATABASE_URL=${url}\nMIGRATE_ON_START=false\nPORT=0\n`);
  const migrated = new Process('dist/cli.js migrate', {}, folder);
  expect(await migrated.exit).toEqual({ code: 0, signal: null });
  expect(migrated.out).toMatch(/^migrated /);
  const service = await Process.startService({ DATABSE_URL: 'x' }, folder);
  expect(service.err).toContain('Password');
  expect(service.err).toMatch(
    /^Warning: DATABSE_URL is an unknown setting\. The most similar setting is DATABASE_URL\.$/m,
  );
});

test.each([
  ['.env', []],
  ['settings', ['--env-file=settings']],
])('a misspelt setting in the file %s is refused', (name, flags) => {
  const cwd = database.folder;
  writeFileSync(join(cwd, name), 'MAX_CONECTION=50\nNODE_ENV=production\n');
  const args = [...flags, join(ROOT, 'dist/main.js')];
  const options = { cwd, env: envOf(database), encoding: 'utf8' } as const;
  const { status, stderr } = spawnSync(process.execPath, args, options);
  expect(status).toBe(1);
  expect(stderr).toBe(
    'Rollcall cannot start. Invalid settings:\n- MAX_CONECTION is an unknown setting. The most similar setting is MAX_CONNECTIONS\n',
  );
});
