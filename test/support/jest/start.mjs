// Prepares an engine for its tests: a server on MariaDB, and the database that each test copies.
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { parentFolder, startMariadb } from '../app/mariadb.ts';
import { writeTemplates } from '../app/template.ts';

export async function start(engine) {
  if (engine === 'mariadb') await startMariadb();
  process.env.TEST_FOLDER = parentFolder();
  const folder = mkdtempSync(join(process.env.TEST_FOLDER, 'rollcall-template-'));
  process.env[`TEST_TEMPLATES_${engine.toUpperCase()}`] = folder;
  // Processes load the code that the first one has compiled. Node.js records no coverage of code that is loaded in this way.
  if (!process.env.MUTANTS_COVERAGE) process.env.TEST_COMPILE_CACHE = join(folder, 'compiled');
  await writeTemplates(folder, engine);
}
