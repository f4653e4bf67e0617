import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type StdioOptions, execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { API_KEY } from '../support/app/app.js';
import { type TestDatabase, createDatabase } from '../support/app/database.js';
import { csv, writeFile } from '../support/app/imports.js';
import { runCommand } from '../support/process/command.js';
import { ROOT, envOf } from '../support/process/process.js';

/** The command line on a database that a service has already used. */
let database: TestDatabase;
let settings: Record<string, string>;
beforeEach(async () => {
  database = await createDatabase('first-start');
  settings = {
    ...envOf(database),
    BOOTSTRAP_API_KEY: API_KEY,
    BOOTSTRAP_WEBMASTER_PASSWORD: 'paint the garden fence',
  };
});
afterEach(() => database.drop());

const runRollcall = (args: string[], more: Record<string, string> = {}) =>
  runCommand(database, args, { ...settings, ...more }, database.folder);
const writeUsers = (name: string, ...lines: string[]): string =>
  writeFile(database, name, csv('ExternalId,Username,Email,Status', ...lines));

test('importing samples/users.csv twice creates each user once', async () => {
  const first = await runRollcall(['import', `${ROOT}samples/users.csv`]);
  expect([first.code, /created +15\n/.test(first.out)]).toEqual([0, true]);
  expect(first.err).toMatch(/^((queued|validating|applying) …\n)+/);
  const again = await runRollcall(['import', `${ROOT}samples/users.csv`, '--json']);
  const repeated = { state: 'completed', counts: { unchanged: 15 }, file: { name: 'users.csv' } };
  expect(JSON.parse(again.out)).toMatchObject(repeated);
  const out = join(database.folder, 'out.csv');
  expect((await runRollcall(['users', 'export', '--out', out])).code).toBe(0);
  expect(readFileSync(out, 'utf8').split('\r\n')).toHaveLength(17);
  expect((await runRollcall(['import', out])).out).toMatch(/unchanged +15\n/);
});

test('rollcall import exits with 1 if only some rows fail', async () => {
  const good = 'p,p,p@example.org,Active';
  const some = await runRollcall(['import', writeUsers('some.csv', 'q,q,bad,Active', good)]);
  expect(some.code).toBe(1);
  expect(some.out).toMatch(/2 +q +email +bad +invalid_format +must be an e-mail address/);
  const bad = writeUsers('bad.csv', 'q,q,bad,Active');
  expect((await runRollcall(['import', bad])).code).toBe(2);
  expect((await runRollcall(['import', bad, '--dry-run'])).code).toBe(2);
  const refused = await runRollcall(['import', writeUsers('empty.csv')]);
  expect([refused.code, /1 +empty_file +The file has a header/.test(refused.out)]).toEqual([2, true]);
});

test('rollcall import reads standard input if the file name is -', async () => {
  const input = csv('ExternalId,Username,Email', 'HR-1,ann,ann@example.org');
  const env = { PATH: process.env['PATH'], ...settings };
  const options = { input, env, cwd: database.folder, stdio: ['pipe', 'pipe', 'ignore'] as StdioOptions };
  const out = execFileSync(process.execPath, [`${ROOT}dist/cli.js`, 'import', '-', '--json'], options);
  expect(JSON.parse(out.toString())).toMatchObject({ state: 'completed', counts: { created: 1 } });
});

test('a command reports a file that it cannot use, with the path as typed', async () => {
  const { folder } = database;
  const gone = join(folder, 'gone');
  const file = writeUsers('plain.csv');
  const url = 'http://127.0.0.1:2';
  const isFolder = `${folder} is a folder. Pass the path of a file.`;
  // prettier-ignore
  const commands: [string[], string][] = [
    [['import', gone], `${gone} does not exist. Check the path.`],
    [['import', `${file}/x`], `${file}/x cannot exist, because a part of the path is a file. Check the path.`],
    [['import', folder], isFolder],
    [['import', file, '--profile', `${folder}/`], isFolder.replace(' ', '/ ')],
    [['users', 'export', '--out', folder], isFolder],
    [['backup', `${gone}/x`], `The folder ${gone} does not exist. Check the path.`],
    [['restore', folder, '--check'], isFolder],
    [['doctor', 'scim', '--profile', 'okta', '--url', url, '--key-file', folder], isFolder],
    [['doctor', 'scim', '--profile', 'okta', '--url', url, '--key', 'x'], `Cannot use ${url}/scim/v2: no response (ECONNREFUSED). Check --url and --key.`],
  ];
  for (const [args, message] of commands) {
    const { code, err } = await runRollcall(args);
    expect([args, code, err]).toEqual([args, 2, expect.stringContaining(`rollcall failed. ${message}\n`)]);
  }
});

test('rollcall import is rejected if the database has no users', async () => {
  await database.drop();
  database = await createDatabase('tables');
  settings = envOf(database);
  const { code, out, err } = await runRollcall(['import', `${ROOT}samples/users.csv`]);
  expect([code, out]).toEqual([2, '']);
  expect(err).toMatch(/has no users\. Start the service/);
  expect((await runRollcall(['users', 'find', '--json'])).out).toContain('"Count": 0');
  expect((await runRollcall(['keys', 'list', '--json'])).out).toBe('[]\n');
});

test.each([
  ['import', `${ROOT}samples/users.csv`],
  ['imports', 'list'],
  ['users', 'find', 'anybody'],
  ['keys', 'list'],
  ['keys', 'create', 'nightly'],
  ['audit', 'list'],
])('rollcall %s %s does not create a missing database', async (...args) => {
  const before = readdirSync(database.folder).sort();
  const path = join(database.folder, 'mistyped', 'rollcal.sqlite');
  const { code, out, err } = await runRollcall(args, { DATABASE_URL: `sqlite:${path}` });
  expect([code, out]).toEqual([2, '']);
  expect(err).toBe(
    `rollcall failed. There is no database at ${path} (DATABASE_URL, DATA_DIR). Create one with "rollcall start", or an empty one with "rollcall migrate".\n`,
  );
  expect(readdirSync(database.folder).sort()).toEqual(before);
});
