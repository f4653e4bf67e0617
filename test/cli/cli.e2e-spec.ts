import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { API_KEY } from '../support/app/app.js';
import { Client } from '../support/app/client.js';
import { ENGINE, type TestDatabase, freshDatabase } from '../support/app/database.js';
import { csv } from '../support/app/imports.js';
import { runCommand } from '../support/process/command.js';
import { Process, ROOT, newcomer } from '../support/process/process.js';

/** The command line, on a database that a service has been started on once. */
let database: TestDatabase;
let settings: Record<string, string>;
jest.setTimeout(90_000);
beforeEach(async () => {
  database = await freshDatabase('first-start');
  settings = {
    ...newcomer(database),
    BOOTSTRAP_API_KEY: API_KEY,
    BOOTSTRAP_WEBMASTER_PASSWORD: 'paint the garden fence',
  };
});
afterEach(async () => {
  await Process.killAll();
  await database.drop();
});

const rollcall = (args: string[], more: Record<string, string> = {}) =>
  runCommand(database, args, { ...settings, ...more }, database.folder);
const fileOf = (name: string, ...lines: string[]): string => {
  const path = join(database.folder, name);
  writeFileSync(path, csv('ExternalId,Username,Email,Status', ...lines));
  return path;
};

test('the sample is imported, twice, and exported again', async () => {
  const first = await rollcall(['import', `${ROOT}samples/users.csv`]);
  expect([first.code, /created +15\n/.test(first.out)]).toEqual([0, true]);
  expect(first.err).toMatch(/^((queued|validating|applying) …\n)+/);
  const again = await rollcall(['import', `${ROOT}samples/users.csv`, '--json']);
  expect(JSON.parse(again.out)).toMatchObject({
    state: 'completed',
    counts: { unchanged: 15 },
    file: { name: 'users.csv' },
  });
  const out = join(database.folder, 'out.csv');
  expect((await rollcall(['users', 'export', '--out', out])).code).toBe(0);
  expect(readFileSync(out, 'utf8').split('\r\n')).toHaveLength(17);
  expect((await rollcall(['import', out])).out).toMatch(/unchanged +15\n/);
});

test('exit codes: some rows failed, all rows failed, refused', async () => {
  const good = 'p,p,p@example.org,Active';
  const some = await rollcall(['import', fileOf('some.csv', 'q,q,bad,Active', good)]);
  expect([some.code, /2 +email +invalid_format +must be an e-mail address/.test(some.out)]).toEqual([
    1,
    true,
  ]);
  const bad = fileOf('bad.csv', 'q,q,bad,Active');
  expect((await rollcall(['import', bad])).code).toBe(2);
  expect((await rollcall(['import', bad, '--dry-run'])).code).toBe(2);
  const refused = await rollcall(['import', fileOf('empty.csv')]);
  expect([refused.code, /1 +empty_file +The file has a header/.test(refused.out)]).toEqual([2, true]);
});

test.each([
  [['import', 'no-such-file.csv'], /no-such-file/],
  [['import', 'x.csv', '--mode', 'sideways'], /'--mode' must be one of upsert/],
  [['import', 'x.csv', '--shoe-size', '43'], /unknown option '--shoe-size'/],
  [['import'], /missing required argument 'file'/],
])('%j does nothing, says why, and ends with 2', async (args, why) => {
  const { code, out, err } = await rollcall(args);
  expect([code, out]).toEqual([2, '']);
  expect(err).toMatch(why);
});

test('an import started next to a running service is done by one of the two', async () => {
  const service = await Process.running(settings);
  const run = await rollcall(['import', fileOf('a.csv', 'a,a,a@example.org,Active')]);
  expect([run.code, /created +1/.test(run.out)]).toEqual([0, true]);
  const client = new Client(service.url, { 'x-api-key': API_KEY });
  expect((await client.get('/imports')).body.Results[0]).toMatchObject({
    state: 'completed',
    actor: { kind: 'system', id: null },
  });
});

test('a file from standard input is imported', async () => {
  const input = csv('ExternalId,Username,Email', 'HR-1,ann,ann@example.org');
  const env = { PATH: process.env['PATH'], ...settings };
  const out = execFileSync(process.execPath, [`${ROOT}dist/cli.js`, 'import', '-', '--json'], {
    input,
    env,
    cwd: database.folder,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  expect(JSON.parse(out.toString())).toMatchObject({ state: 'completed', counts: { created: 1 } });
});

test('a mistyped name of a file makes nothing: no first start, no database, no secret', async () => {
  await database.drop();
  database = await freshDatabase('tables');
  settings = newcomer(database);
  const missing = await rollcall(['import', join(database.folder, 'nobody.csv')]);
  expect([missing.code, missing.out, missing.err]).toEqual([
    2,
    '',
    expect.stringMatching(/ENOENT.*nobody\.csv/),
  ]);
  expect((await rollcall(['users', 'find', '--json'])).out).toContain('"Count": 0');
});

test('a database without users, which may be a mistyped one, is not imported into', async () => {
  await database.drop();
  database = await freshDatabase('tables');
  settings = newcomer(database);
  const empty = await rollcall(['import', `${ROOT}samples/users.csv`]);
  expect([empty.code, empty.out, empty.err]).toEqual([
    2,
    '',
    expect.stringMatching(/has no users\. Start the service/),
  ]);
  expect((await rollcall(['users', 'find', '--json'])).out).toContain('"Count": 0');
  expect((await rollcall(['keys', 'list', '--json'])).out).toBe('[]\n');
});

const ofSqlite = ENGINE === 'sqlite' ? test.each : test.skip.each;
ofSqlite([
  ['import', `${ROOT}samples/users.csv`],
  ['imports', 'list'],
  ['users', 'find', 'anybody'],
  ['keys', 'list'],
  ['keys', 'create', 'nightly'],
  ['audit', 'list'],
])(
  `a mistyped database is not made by rollcall %s %s${ENGINE === 'sqlite' ? '' : ' (a database of a server is made by its own commands)'}`,
  async (...args) => {
    const before = readdirSync(database.folder).sort();
    const path = join(database.folder, 'mistyped', 'rollcal.sqlite');
    const { code, out, err } = await rollcall(args, { DATABASE_URL: `sqlite:${path}` });
    expect([code, out]).toEqual([2, '']);
    expect(err).toBe(
      `rollcall failed. There is no database at ${path} (DATABASE_URL, DATA_DIR). Create one with "rollcall start", or an empty one with "rollcall migrate".\n`,
    );
    expect(readdirSync(database.folder).sort()).toEqual(before);
  },
);
