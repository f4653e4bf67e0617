import { rmSync } from 'node:fs';
import { stopMariadb } from '../app/mariadb.ts';

export default async function stop(_, { globals: { ENGINE } }) {
  const name = `TEST_TEMPLATES_${ENGINE.toUpperCase()}`;
  if (process.env[name]) rmSync(process.env[name], { recursive: true, force: true });
  Reflect.deleteProperty(process.env, name);
  if (ENGINE === 'mariadb') await stopMariadb();
}
