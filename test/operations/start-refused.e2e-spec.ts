import { expect, test } from '@jest/globals';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ENGINE } from '../support/app/database.js';
import { Process, ROOT, type Script, newcomer, processDatabase, said } from '../support/process/process.js';

/** What the service and its migrations print when they cannot start. */
const database = processDatabase();

const SECRET = 'topsecret';
const onMariadb = ENGINE === 'mariadb' ? test : test.skip;
const SCRIPTS: Script[] = ['dist/main.js', 'dist/cli.js migrate'];
/** The service ends with 1; a command that did nothing with 2. */
const failure = (script: Script) => (script === 'dist/main.js' ? 1 : 2);
const ended = async (script: Script, settings: Record<string, string>) => {
  const run = new Process(script, { ...newcomer(database), ...settings });
  return { exit: await run.exit, out: run.out, err: run.err };
};
/** A few lines for a person: no stack, no source, and no colours, as there is no terminal. */
const expectPlain = (text: string) => {
  expect(text).not.toMatch(/^\s+(?:\S+\[\d+m)*at /m);
  expect(text).not.toMatch(/node_modules|node:|\.ts:\d|throw new/);
  expect(text.split('\n').length).toBeLessThan(30);
};

/** [variable, a value that breaks its rule, what the message says about the rule]. `unit/env` tests all rules. */
const BAD: [string, string, RegExp][] = [
  ['PORT', `7${SECRET}`, /PORT must be an integer/],
  ['DATABASE_URL', `postgres://u:${SECRET}@h/d`, /DATABASE_URL must be sqlite:<file> or mysql:/],
  ['BOOTSTRAP_API_KEY', SECRET, /BOOTSTRAP_API_KEY must be 32 to 128 printable/],
  ['BOOTSTRAP_WEBMASTER_PASSWORD', 'pass-77', /must be a good password: it must have at least 12/],
];

test.each(SCRIPTS)('%s names every setting that breaks its rule, and none of the values', async (script) => {
  const run = await ended(script, Object.fromEntries(BAD.map(([name, value]) => [name, value])));
  expect(run.exit).toEqual({ code: failure(script), signal: null });
  for (const [, , rule] of BAD) expect(run.err).toMatch(rule);
  expect(run.out + run.err).not.toContain(SECRET);
  expect(run.out + run.err).not.toContain('pass-77');
  expectPlain(run.err);
});

/** Settings that the service refuses on an empty database, by its list of common passwords. */
test.each([
  ['BOOTSTRAP_WEBMASTER_PASSWORD', 'dragon-monkey'],
  ['BOOTSTRAP_API_KEY', 'correct-horse-battery-staple-2024'],
])('the first start refuses a %s that is easy to guess', async (name, value) => {
  const run = await ended('dist/main.js', { [name]: value });
  expect(run.exit).toEqual({ code: 1, signal: null });
  expect(run.err).toMatch(new RegExp(`${name} must be`));
  expect(run.out + run.err).not.toContain(value);
  expectPlain(run.err);
  // Nothing was created: with a good value, or none, the next start is the first one.
  expect((await Process.running(newcomer(database))).err).toContain('Password');
});

test.each([
  ['an invalid port', `mysql://root:${SECRET}@127.0.0.1:99999/rollcall`],
  ['a stray percent sign', `mysql://root:${SECRET}%@127.0.0.1:3306/rollcall`],
])('a database address with %s is named and not shown', async (_what, url) => {
  const run = await ended('dist/main.js', { DATABASE_URL: url });
  expect(run.exit).toEqual({ code: 1, signal: null });
  expect(run.err).toContain('DATABASE_URL');
  expect(run.out + run.err).not.toContain(SECRET);
  expectPlain(run.err);
});

test.each(SCRIPTS)('%s reports in one line that the database does not answer', async (script) => {
  const run = await ended(script, { DATABASE_URL: `mysql://root:${SECRET}@127.0.0.1:1/rollcall` });
  expect(run.exit).toEqual({ code: failure(script), signal: null });
  expect(run.err).toContain('127.0.0.1:1');
  expect(run.out + run.err).not.toContain(SECRET);
  expectPlain(run.err);
});

onMariadb(
  'an empty MariaDB is not migrated unasked: the message advises, and following it helps (needs a server: MariaDB only)',
  async () => {
    const settings = { MIGRATE_ON_START: 'auto' };
    const refused = await ended('dist/main.js', settings);
    expect(refused.exit).toEqual({ code: 1, signal: null });
    expect(refused.err).toContain('npm run migration:run');
    expect(refused.err).toContain('MIGRATE_ON_START=true');
    expect(refused.out).toBe('');
    expectPlain(refused.err);

    const migrated = await ended('dist/cli.js migrate', settings);
    expect([migrated.exit.code, said(migrated.err).err]).toEqual([0, '']);
    expect(migrated.out).toMatch(/^migrated \w+\nmigrated \w+\n/);
    expect(await ended('dist/cli.js migrate', settings)).toMatchObject({ out: 'nothing to migrate\n' });

    const service = await Process.running({ ...newcomer(database), ...settings });
    expect(service.err).toContain('Password');
  },
);

test('the settings in .env apply to both the service and its migrations', async () => {
  const { folder } = database;
  const url = ENGINE === 'mariadb' ? database.url : `sqlite:${join(folder, 'elsewhere', 'users.sqlite')}`;
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, '.env'), `DATABASE_URL=${url}\nMIGRATE_ON_START=false\nPORT=0\n`);
  const migrated = new Process('dist/cli.js migrate', {}, folder);
  expect(await migrated.exit).toEqual({ code: 0, signal: null });
  expect(migrated.out).toMatch(/^migrated /);
  const service = await Process.running({}, folder);
  expect(service.err).toContain('Password');
});
