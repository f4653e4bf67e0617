import { DatabaseError } from '../engine/database-error.js';
import { type Sql, countRows, listAllTables, toPlaceholders } from '../engine/sql.js';

/**
 * Checks that the database user may read and change every table of the service.
 * @throws DatabaseError `denied` if a privilege is missing.
 */
export async function assertPrivileges(sql: Sql): Promise<void> {
  const current = await sql.queryOne<{ name: string }>('SELECT DATABASE() AS name');
  // Selecting the database again makes an open connection notice changed privileges.
  await sql.query(`USE \`${current?.name.replaceAll('`', '``')}\``);
  const tables = listAllTables();
  const names = tables.map(({ name }) => name);
  // `information_schema.columns` does not show the privilege DELETE, and lists no columns of a damaged table.
  await sql.execute(`DELETE ${names.join(', ')} FROM ${names.join(' JOIN ')} WHERE FALSE`);
  const accessible = `SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE()
    AND table_name IN (${toPlaceholders(names.length)}) AND privileges LIKE 'select,insert,update%'`;
  if ((await countRows(sql, accessible, names)) < tables.flatMap(({ columns }) => columns).length)
    throw new DatabaseError('denied', new Error('a privilege on a column is missing'));
}
