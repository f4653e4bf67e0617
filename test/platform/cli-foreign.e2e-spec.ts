import { expect, test } from '@jest/globals';
import { loadEnv } from '../../src/config/env.js';
import { openDatabase } from '../../src/database/engine/database.js';
import { ENGINE } from '../support/database.js';
import { ROOT, newcomer, processDatabase, runCommand } from '../support/process.js';

/** A mistyped DATABASE_URL may name what is not ours. */
const database = processDatabase();

test.each([[['migrate']], [['users', 'find', 'ann']], [['import', `${ROOT}samples/users.csv`]]])(
  'rollcall %j touches no database of another program',
  async (args) => {
    const sql = await openDatabase(loadEnv({ ...newcomer(database), DATABASE_URL: database.url }));
    await sql.execute('CREATE TABLE invoices (id INTEGER)');
    const tables = () =>
      sql.query(
        ENGINE === 'sqlite'
          ? 'SELECT name FROM sqlite_master'
          : 'SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()',
      );
    const before = await tables();
    const { code, out, err } = await runCommand(database, args, { MIGRATE_ON_START: 'true' });
    expect([code, out, err]).toEqual([
      2,
      '',
      expect.stringMatching(/belongs to another program .* the table invoices/),
    ]);
    expect(await tables()).toEqual(before);
    await sql.close();
  },
);
