import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';

/** The engine of this run: every end-to-end file runs once on each. */
export const ENGINE: 'sqlite' | 'mariadb' =
  (globalThis as { ENGINE?: 'sqlite' | 'mariadb' }).ENGINE ?? 'sqlite';

export interface TestDatabase {
  url: string;
  folder: string;
  drop(): Promise<void>;
}

/** A fresh, empty database of this run's engine, and a folder for everything else. */
export async function freshDatabase(): Promise<TestDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-test-'));
  const removeFolder = () => {
    rmSync(folder, { recursive: true, force: true });
  };
  if (ENGINE === 'sqlite') {
    return {
      url: `sqlite:${join(folder, 'test.sqlite')}`,
      folder,
      drop: () => Promise.resolve(removeFolder()),
    };
  }
  const server = new URL(process.env['TEST_DATABASE_URL'] ?? '');
  const name = `rollcall_${randomBytes(6).toString('hex')}`;
  await statement(server, `CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    folder,
    drop: async () => {
      await statement(server, `DROP DATABASE ${name}`);
      removeFolder();
    },
  };
}

/** Runs statements as the administrator of the MariaDB of this run. */
export const asAdministrator = (sql: string): Promise<void> =>
  statement(new URL(process.env['TEST_DATABASE_URL'] ?? ''), sql);

async function statement(server: URL, sql: string): Promise<void> {
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
