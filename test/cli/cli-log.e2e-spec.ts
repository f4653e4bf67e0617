import { expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestApp } from '../support/app/app.js';
import { Process, envOf, setUpDatabase } from '../support/process/process.js';

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
