// Prepares an engine for its tests: a server on MariaDB, and the database that each test copies.
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { parentFolder, startMariadb } from '../app/mariadb.ts';
import { writeTemplates } from '../app/template.ts';

export default async function start(_, { globals: { ENGINE } }) {
  const name = `TEST_TEMPLATES_${ENGINE.toUpperCase()}`;
  if (process.env[name]) return; // by another project of the same engine
  if (ENGINE === 'mariadb') await startMariadb();
  process.env.TEST_FOLDER = parentFolder();
  process.env[name] = mkdtempSync(join(process.env.TEST_FOLDER, 'rollcall-template-'));
  await writeTemplates(process.env[name], ENGINE);
}
