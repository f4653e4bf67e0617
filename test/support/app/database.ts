import { describe, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import { type Content, templateFile } from './template.js';

/** Engine of this test run. Jest runs the end-to-end tests once for each engine. */
export const ENGINE: 'sqlite' | 'mariadb' =
  (globalThis as { ENGINE?: 'sqlite' | 'mariadb' }).ENGINE ?? 'sqlite';

/** Tests that run on one engine, and are skipped on the other engine. */
export const onSqlite = ENGINE === 'sqlite' ? test : test.skip;
export const onMariadb = ENGINE === 'mariadb' ? test : test.skip;
export const describeOnSqlite = ENGINE === 'sqlite' ? describe : describe.skip;
export const describeOnMariadb = ENGINE === 'mariadb' ? describe : describe.skip;

export interface TestDatabase {
  url: string;
  folder: string;
  drop(): Promise<void>;
}

/**
 * Creates a database on the engine of this test run, and a folder for other files.
 * @param content the template that is copied. Without it the database is empty.
 */
export async function createDatabase(content?: Content): Promise<TestDatabase> {
  const folder = mkdtempSync(join(process.env['TEST_FOLDER'] ?? tmpdir(), 'rollcall-test-'));
  const removeFolder = () => {
    rmSync(folder, { recursive: true, force: true });
  };
  const template =
    content && templateFile(process.env[`TEST_TEMPLATES_${ENGINE.toUpperCase()}`] ?? '', ENGINE, content);
  if (ENGINE === 'sqlite') {
    const file = join(folder, 'rollcall.sqlite');
    if (template) copyFileSync(template, file);
    return { url: `sqlite:${file}`, folder, drop: () => Promise.resolve(removeFolder()) };
  }
  const server = new URL(process.env['TEST_DATABASE_URL'] ?? '');
  const name = `rollcall_${randomBytes(6).toString('hex')}`;
  const tables = template ? `USE ${name};\n${readFileSync(template, 'utf8')}` : '';
  await runStatements(server, `CREATE DATABASE ${name};\n${tables}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    folder,
    drop: async () => {
      await runStatements(server, `DROP DATABASE ${name}`);
      removeFolder();
    },
  };
}

/** Runs statements as administrator of the MariaDB server of this test run. */
export const runAsAdministrator = (sql: string): Promise<void> =>
  runStatements(new URL(process.env['TEST_DATABASE_URL'] ?? ''), sql);

async function runStatements(server: URL, sql: string): Promise<void> {
  const { hostname, port, username, password } = server;
  const connection = await createConnection({
    host: hostname,
    port: Number(port),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    multipleStatements: true,
  });
  await connection.query(sql);
  await connection.end();
}
