import { expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { API_KEY, TestApp } from '../support/app/app.js';
import { create } from '../support/data/factories.js';
import { Process, ROOT, envOf, setUpDatabase } from '../support/process/process.js';

/** Standard output of a command contains only its result, because another program may read it. */
const database = setUpDatabase();

test.each([
  ['info', /^\{"level":30,.*"msg":"import"\}$/m],
  ['', /^(?!.*"level":)/s],
])('with LOG_LEVEL=%j, a command writes no log lines to standard output', async (LOG_LEVEL, expected) => {
  const file = join(database.folder, 'users.csv');
  writeFileSync(file, 'ExternalId,Username,Email\nHR-1,jane,jane@example.org\n');
  await (await TestApp.startOn(database)).stop();
  const settings = { ...envOf(database), DATABASE_URL: database.url, LOG_LEVEL };
  const command = Process.startCommand(['import', file, '--json'], settings);
  const { code } = await command.exit;
  const { out, err } = command;
  expect([code, JSON.parse(out)]).toEqual([0, expect.objectContaining({ state: 'completed' })]);
  expect(err).toMatch(expected);
});

test('a command completes its work if its output cannot be written', async () => {
  const app = await TestApp.startOn(database);
  const env = { PATH: process.env['PATH'], ...envOf(database), DATABASE_URL: database.url };
  const run = async (output: string, ...args: string[]) => {
    const script = `"$0" dist/cli.js "$@" ${output}; echo "\${PIPESTATUS[0]}"`;
    const words = ['--norc', '-c', script, process.execPath, ...args];
    const { stdout, stderr } = await promisify(execFile)('bash', words, { cwd: ROOT, env });
    return [stdout, stderr.replace(/^Service: .*\n/, '')];
  };
  const users = [await create(app.key), await create(app.key)];
  const target = ['--url', app.url, '--key', API_KEY];
  const block = ['users', 'block', ...users.map(({ uuid }) => uuid), ...target];
  const commands = [['doctor'], ['keys', 'list', '--json', ...target], block];
  const results = await Promise.all(commands.map((args) => run('| true', ...args)));
  expect(results).toEqual(commands.map(() => ['0\n', '']));
  for (const { uuid } of users) expect((await app.key.get(`/users/${uuid}`)).body.status).toBe('Blocked');
  const full = await run('> /dev/full', 'users', 'find', ...target);
  expect(full).toEqual(['2\n', expect.stringContaining('output cannot be written (ENOSPC). ')]);
  await app.stop();
});
