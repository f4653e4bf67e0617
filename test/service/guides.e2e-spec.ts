import { beforeEach, afterEach, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { README_KEY, addCommand, cloneInto, terminalOf } from '../support/process/guide/clone.js';
import { follow } from '../support/process/guide/guide.js';
import { Services } from '../support/process/guide/services.js';
import { processDatabase } from '../support/process/process.js';

/** Documents that a reader follows in a clone: each block in order, with what it prints. */
const database = processDatabase();
let folder: string;
let services: Services;
beforeEach(async () => {
  folder = join(database.folder, 'clone');
  cloneInto(folder);
  services = await Services.listening();
});
afterEach(() => services.close());

const followHere = (document: string, knows = {}) =>
  follow(document, {
    folder,
    // The audit shows the user who runs a command: always the same one.
    variables: {
      ...terminalOf(addCommand(database.folder), database.folder, services.control),
      SUDO_USER: 'ada',
    },
    knows,
    asShown: (printed) => printed.replaceAll(folder, '/home/ada/rollcall'),
    here: (script) => script.replaceAll('127.0.0.1:3000', services.address ?? '127.0.0.1:3000'),
  });

test.each(['README.md', 'docs/connectors.md'])('%s, which starts the service', async (document) => {
  expect((await followHere(document)).compared).toBeGreaterThan(3);
});

test.each(['docs/operator.md', 'docs/scim.md'])('%s, for a service that runs', async (document) => {
  const key = randomBytes(24).toString('hex');
  await services.start(folder, { BOOTSTRAP_API_KEY: key });
  expect((await followHere(document, { [README_KEY]: key })).compared).toBeGreaterThan(3);
});

test.each(['CONTRIBUTING.md', 'docs/checker.md', 'docs/performance.md'])(
  '%s, whose commands are scripts of the project',
  async (document) => {
    expect((await followHere(document)).run).toBeGreaterThan(0);
  },
);
