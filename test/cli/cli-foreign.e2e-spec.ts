import { expect, test } from '@jest/globals';
import { loadEnv } from '../../src/platform/config/env.js';
import { openDatabase } from '../../src/platform/database/engine/database.js';
import { ENGINE } from '../support/app/database.js';
import { runCommand } from '../support/process/command.js';
import { ROOT, newcomer, processDatabase } from '../support/process/process.js';

/** A mistyped DATABASE_URL may name what is not ours. */
const database = processDatabase();

const COMMANDS = [['migrate'], ['users', 'find', 'ann'], ['import', `${ROOT}samples/users.csv`]];

/** Names of ours are names of others, too. */
test.each(['invoices', 'users', 'user_groups'].flatMap((table) => COMMANDS.map((args) => ({ table, args }))))(
  'a database of another program, with a table $table, is left alone by rollcall $args',
  async ({ table, args }) => {
    const sql = await openDatabase(loadEnv({ ...newcomer(database), DATABASE_URL: database.url }));
    await sql.execute(`CREATE TABLE ${table} (id INTEGER)`);
    const tables = () =>
      sql.query(
        ENGINE === 'sqlite'
          ? 'SELECT name FROM sqlite_master'
          : 'SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()',
      );
    const before = await tables();
    const { code, out, err } = await runCommand(database, args, { MIGRATE_ON_START: 'true' });
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(`belongs to another program (it has the table ${table})`);
    expect(await tables()).toEqual(before);
    await sql.close();
  },
);
