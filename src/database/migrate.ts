import 'reflect-metadata';
import { loadEnv } from '../config/env.js';
import { openDataSource } from './data-source.js';

/** `npm run migration:run`: runs what is pending and names it. */
const dataSource = await openDataSource(loadEnv());
try {
  const done = await dataSource.runMigrations();
  process.stdout.write(done.map(({ name }) => `migrated ${name}\n`).join('') || 'nothing to migrate\n');
} finally {
  await dataSource.destroy();
}
