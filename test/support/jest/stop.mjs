import { rmSync } from 'node:fs';
import { stopMariadb } from '../app/mariadb.ts';

// Jest runs this once, after the tests of all engines.
export default async function stop() {
  for (const name of ['TEST_TEMPLATES_SQLITE', 'TEST_TEMPLATES_MARIADB']) {
    if (process.env[name]) rmSync(process.env[name], { recursive: true, force: true });
    Reflect.deleteProperty(process.env, name);
  }
  await stopMariadb();
}
