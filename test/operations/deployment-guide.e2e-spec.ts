import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ENGINE, runAsAdministrator } from '../support/app/database.js';
import { type Block, readBlocks } from '../support/process/guide/blocks.js';
import { createEnvironment } from '../support/process/guide/clone.js';
import { runGuide } from '../support/process/guide/guide.js';
import { Services } from '../support/process/guide/services.js';
import { ROOT, setUpDatabase } from '../support/process/process.js';

/**
 * Follows the deployment guide in a folder that contains `/etc`, `/opt`, `/srv` and `/var/lib` of a machine. The
 * programs in test/support/process/guide/root-bin replace commands that need root or a machine (users, owners, systemd).
 */
const database = setUpDatabase();
const isSqlite = ENGINE === 'sqlite';
const SKIPPED = isSqlite ? ['The database', 'MariaDB and MySQL'] : ['SQLite'];
const FOLDERS = ['etc/systemd/system', 'opt', 'srv', 'var/lib'];

let services: Services;
beforeEach(async () => void (services = await Services.listen()));
afterEach(async () => {
  await services.close();
  if (!isSqlite) await runAsAdministrator('DROP DATABASE IF EXISTS rollcall; DROP USER IF EXISTS rollcall');
});

test('the commands of docs/deployment.md work as described', async () => {
  const machine = join(database.folder, 'machine');
  for (const folder of FOLDERS) mkdirSync(join(machine, folder), { recursive: true });
  const server = isSqlite ? '' : new URL(process.env['TEST_DATABASE_URL'] ?? '').host;
  const adapt = (script: string): string =>
    script
      .replaceAll(/(?<=^|[\s'"=:])(?=\/(?:etc|opt|srv|var\/lib)\/)/gm, machine)
      .replaceAll('127.0.0.1:3000', services.address ?? '127.0.0.1:3000')
      .replaceAll('127.0.0.1:3306', server)
      .replaceAll('port=3306', `port=${server.split(':')[1] ?? ''}`)
      .replaceAll('--replace rollcall.sqlite', isSqlite ? '--replace rollcall.sqlite' : '--replace rollcall');
  const path = `${join(ROOT, 'test/support/process/guide/root-bin')}:${process.env['PATH'] ?? ''}`;
  const done = await runGuide(
    'docs/deployment.md',
    {
      folder: database.folder,
      variables: {
        ...createEnvironment(path, database.folder, services.control),
        GUIDE_MACHINE: machine,
        REPOSITORY: 'the project',
      },
      here: adapt,
      asShown: (printed) => printed.replaceAll(machine, ''),
      after: async ({ kind, text }: Block) => {
        if (kind === 'sql') await runAsAdministrator(text);
      },
    },
    readBlocks('docs/deployment.md').filter(({ heading }) => !SKIPPED.includes(heading)),
  );
  expect(done.compared).toBeGreaterThan(3);
});
