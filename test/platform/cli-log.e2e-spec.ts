import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { told } from '../support/command.js';
import { type TestDatabase, freshDatabase } from '../support/database.js';
import { Process } from '../support/process.js';

/** A command's output is its result: another program may read it. */
let database: TestDatabase;
jest.setTimeout(90_000);
beforeEach(async () => void (database = await freshDatabase()));
afterEach(async () => {
  await Process.killAll();
  await database.drop();
});

test.each([
  ['info', /^\{"level":30,.*"msg":"import"\}$/m],
  ['', /^(?!.*"level":)/s],
])('with LOG_LEVEL=%j log lines do not run into what a command prints', async (LOG_LEVEL, expected) => {
  const file = join(database.folder, 'users.csv');
  writeFileSync(file, 'ExternalId,Username,Email\nHR-1,jane,jane@example.org\n');
  const { code, out, err } = await told(database, ['import', file, '--json'], { LOG_LEVEL });
  expect([code, JSON.parse(out)]).toEqual([0, expect.objectContaining({ state: 'completed' })]);
  expect(err).toMatch(expected);
});
