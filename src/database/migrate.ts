import 'reflect-metadata';
import { readSettings, runProgram } from '../config/settings.js';
import { migrate, openDataSource } from './data-source.js';

/** `npm run migration:run`: runs what is pending and names it. */
runProgram('The database cannot be migrated.', async () => {
  const dataSource = await openDataSource(readSettings());
  try {
    const done = await migrate(dataSource);
    process.stdout.write(done.map(({ name }) => `migrated ${name}\n`).join('') || 'nothing to migrate\n');
  } finally {
    await dataSource.destroy();
  }
});
