import { beforeEach, afterEach, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { README_KEY, addCommand, createClone, createEnvironment } from '../support/process/guide/clone.js';
import { runGuide } from '../support/process/guide/guide.js';
import { Services } from '../support/process/guide/services.js';
import { setUpDatabase } from '../support/process/process.js';

/** Runs every command block of the documents in a clone, in order, and compares the documented output. */
const database = setUpDatabase();
let folder: string;
let services: Services;
beforeEach(async () => {
  folder = join(database.folder, 'clone');
  createClone(folder);
  services = await Services.listen();
});
afterEach(() => services.close());

const followHere = (document: string, knows = {}) =>
  runGuide(document, {
    folder,
    // The audit shows the user who runs a command, which must be the same on every machine.
    variables: {
      ...createEnvironment(addCommand(database.folder), database.folder, services.control),
      SUDO_USER: 'ada',
    },
    knows,
    asShown: (printed) => printed.replaceAll(folder, '/home/ada/rollcall'),
    here: (script) => script.replaceAll('127.0.0.1:3000', services.address ?? '127.0.0.1:3000'),
  });

const STARTING = ['README.md', 'docs/connectors.md'];
test.each(STARTING)('the commands of %s print the documented output', async (document) => {
  expect((await followHere(document)).compared).toBeGreaterThan(3);
});

const USING = ['docs/operator.md', 'docs/scim.md'];
test.each(USING)('on a running service, the commands of %s print the documented output', async (document) => {
  const key = randomBytes(24).toString('hex');
  await services.start(folder, { BOOTSTRAP_API_KEY: key });
  expect((await followHere(document, { [README_KEY]: key })).compared).toBeGreaterThan(3);
});

test.each(['CONTRIBUTING.md', 'tools/checker/README.md', 'docs/performance.md'])(
  'the development commands in %s succeed',
  async (document) => {
    expect((await followHere(document)).run).toBeGreaterThan(0);
  },
);
