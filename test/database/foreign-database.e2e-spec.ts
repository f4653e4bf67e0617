import { expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadEnv } from '../../src/platform/config/env.js';
import { openDatabase } from '../../src/platform/database/engine/database.js';
import { ENGINE } from '../support/app/database.js';
import { runCommand } from '../support/process/command.js';
import { ROOT, envOf, setUpDatabase } from '../support/process/process.js';

/** A mistyped DATABASE_URL may name the database of another program. */
const database = setUpDatabase();

const COMMANDS = [['migrate'], ['users', 'find', 'ann'], ['import', `${ROOT}samples/users.csv`]];

async function openEmptyDatabase() {
  if (ENGINE === 'sqlite') writeFileSync(join(database.folder, 'rollcall.sqlite'), '');
  return openDatabase(loadEnv({ ...envOf(database), DATABASE_URL: database.url }));
}

/** Table names of Rollcall may be table names of other programs, too. */
test.each(['invoices', 'users', 'user_groups'].flatMap((table) => COMMANDS.map((args) => ({ table, args }))))(
  'rollcall $args rejects a database with the foreign table $table',
  async ({ table, args }) => {
    const sql = await openEmptyDatabase();
    await sql.execute(`CREATE TABLE ${table} (id INTEGER)`);
    const listTables = () =>
      sql.query(
        ENGINE === 'sqlite'
          ? 'SELECT name FROM sqlite_master'
          : 'SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()',
      );
    const before = await listTables();
    const { code, out, err } = await runCommand(database, args, { MIGRATE_ON_START: 'true' });
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(`belongs to another program (it has the table ${table})`);
    expect(await listTables()).toEqual(before);
    await sql.close();
  },
);

const MIGRATIONS =
  'CREATE TABLE migrations (id INTEGER PRIMARY KEY, timestamp bigint NOT NULL, name varchar(64) NOT NULL)';

test.each([
  [
    'an unknown migration',
    [MIGRATIONS, "INSERT INTO migrations VALUES (1, 1763600000000, 'Users1763600000000')"],
    /the unknown migration Users1763600000000/,
  ],
  [
    'a table without its migration',
    [MIGRATIONS, 'CREATE TABLE sessions (id INTEGER)'],
    /the table sessions without its migration/,
  ],
])('a database with %s is refused', async (_case, statements, found) => {
  const sql = await openEmptyDatabase();
  for (const statement of statements) await sql.execute(statement);
  const before = await sql.query('SELECT * FROM migrations');
  const name = new URL(database.url).pathname.replace(ENGINE === 'sqlite' ? '' : '/', '');
  for (const args of [...COMMANDS, ['doctor']]) {
    const { code, out, err } = await runCommand(database, args, { MIGRATE_ON_START: 'true' });
    expect([args, code]).toEqual([args, args[0] === 'doctor' ? 1 : 2]);
    expect(out + err).toMatch(found);
    expect(out + err).toContain(`The database ${name} belongs to an unreleased build`);
    expect(out + err).toContain('Set DATABASE_URL to an empty database');
  }
  expect(await sql.query('SELECT * FROM migrations')).toEqual(before);
  await sql.close();
});
