import { existsSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Connection, type RowDataPacket, createConnection } from 'mysql2/promise';

export const API_KEY = 'test-9fK2mWq7Xr4Zt8Lc3Vb6Np1Sd5Gh0Jy-key';
export const ADMIN_PASSWORD = 'paint the garden fence';

/** Content of a template: only the tables, or also the first Webmaster and the first API key. */
export type Content = (typeof CONTENTS)[number];
const CONTENTS = ['tables', 'first-start'] as const;

/** Returns the path of a template: a database file of SQLite, or the SQL statements for MariaDB. */
export const templateFile = (folder: string, engine: string, content: Content): string =>
  join(folder, `${content}.${engine === 'sqlite' ? 'sqlite' : 'sql'}`);

/** Writes a template for each content. Tests copy a template instead of migrating a database and starting on it. */
export async function writeTemplates(folder: string, engine: string): Promise<void> {
  if (engine === 'sqlite') {
    for (const content of CONTENTS) {
      const file = templateFile(folder, engine, content);
      await fillDatabase(content, folder, `sqlite:${file}`);
      if (existsSync(`${file}-wal`)) throw new Error(`the log of ${file} was not written back`);
    }
    return;
  }
  const url = new URL(process.env['TEST_DATABASE_URL'] ?? '');
  url.pathname = '/';
  const server = await connect(url.href);
  url.pathname = '/rollcall_template';
  await server.query('DROP DATABASE IF EXISTS rollcall_template; CREATE DATABASE rollcall_template');
  for (const content of CONTENTS) {
    await fillDatabase(content, folder, url.href);
    writeFileSync(templateFile(folder, engine, content), await dumpDatabase(url.href));
  }
  await server.query('DROP DATABASE rollcall_template');
  await server.end();
}

/** Fills a database with a content. */
async function fillDatabase(content: Content, folder: string, url: string): Promise<void> {
  const load = createRequire(join(import.meta.dirname, '../../../build/create-app.js'));
  const { loadEnv } = load(
    './platform/config/env.js',
  ) as typeof import('../../../src/platform/config/env.js');
  const { migrateAtStart } = load(
    './platform/database/data-source.js',
  ) as typeof import('../../../src/platform/database/data-source.js');
  const { createApp } = load('./create-app.js') as typeof import('../../../src/create-app.js');
  const { ENTITIES } = load('./entities.js') as typeof import('../../../src/entities.js');
  const { FirstStart } = load(
    './operations/start/first-start.service.js',
  ) as typeof import('../../../src/operations/start/first-start.service.js');
  const env = loadEnv({
    DATA_DIR: folder,
    DATABASE_URL: url,
    MIGRATE_ON_START: 'true',
    BOOTSTRAP_API_KEY: API_KEY,
    BOOTSTRAP_WEBMASTER_PASSWORD: ADMIN_PASSWORD,
    LOG_LEVEL: 'silent',
  });
  await migrateAtStart(env, ENTITIES);
  if (content === 'tables') return;
  const app = await createApp(env);
  await app.get(FirstStart).createCredentials();
  await app.close();
}

const connect = (url: string): Promise<Connection> =>
  createConnection({ uri: url.replace(/^mariadb:/, 'mysql:'), dateStrings: true, multipleStatements: true });

/** Returns the SQL statements that create all tables of a database and insert their rows. */
async function dumpDatabase(url: string): Promise<string> {
  const connection = await connect(url);
  const [tables] = await connection.query('SHOW TABLES');
  const names = (tables as object[]).map((row) => String(Object.values(row)[0]));
  const statements = ['SET foreign_key_checks = 0'];
  for (const name of names) statements.push(...(await dumpTable(connection, name)));
  await connection.end();
  return statements.join(';\n');
}

async function dumpTable(connection: Connection, name: string): Promise<string[]> {
  const [[table]] = await connection.query<RowDataPacket[]>(`SHOW CREATE TABLE ${name}`);
  const [rows] = await connection.query<RowDataPacket[]>(`SELECT * FROM ${name}`);
  const inserts = rows.map((row) => connection.format('INSERT INTO ?? SET ?', [name, row]));
  return [String(table?.['Create Table']), ...inserts];
}
