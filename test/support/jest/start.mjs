// Prepares an engine for its tests: the MariaDB server, and the templates that tests copy.
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { parentFolder, startMariadb } from '../app/mariadb.ts';
import { writeTemplates } from '../app/template.ts';

export async function start(engine) {
  if (engine === 'mariadb') await startMariadb();
  process.env.TEST_FOLDER = parentFolder();
  const folder = mkdtempSync(join(process.env.TEST_FOLDER, 'rollcall-template-'));
  process.env[`TEST_TEMPLATES_${engine.toUpperCase()}`] = folder;
  // Processes reuse the compiled code of the first one. Node.js records no coverage of such code.
  if (!process.env.MUTANTS_COVERAGE) process.env.TEST_COMPILE_CACHE = join(folder, 'compiled');
  await writeTemplates(folder, engine);
}
