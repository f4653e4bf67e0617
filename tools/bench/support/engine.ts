import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { MariaDb } from '../faults/servers.js';

export type EngineName = 'sqlite' | 'mariadb';

/** A database engine of the bench: makes databases, and counts what their server did. */
export interface BenchEngine {
  readonly name: EngineName;
  readonly version: string;
  /** The process of the database, if it has one. */
  readonly pids: readonly number[];
  /** A new, empty database. @returns its address. */
  create(name: string): string;
  /** Statements for the database's server, if it has one. */
  sql(statements: string): string[];
  /** Statements that the server has run so far; undefined if nothing counts them. */
  statements(): number | undefined;
  remove(): Promise<void>;
}

export const hasMariaDb = (): boolean => spawnSync('mariadbd', ['--version']).status === 0;

/** An engine, with its server pinned to `cores`. */
export async function startEngine(name: EngineName, cores: string | undefined): Promise<BenchEngine> {
  return name === 'sqlite' ? sqlite() : mariadb(await MariaDb.make(cores));
}

function sqlite(): BenchEngine {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-bench-'));
  const memory = new DatabaseSync(':memory:');
  const { version } = memory.prepare('SELECT sqlite_version() AS version').get() as { version: string };
  memory.close();
  return {
    name: 'sqlite',
    version,
    pids: [],
    create: (database) => `sqlite:${join(folder, `${database}.sqlite`)}`,
    sql: () => {
      throw new Error('SQLite has no server');
    },
    statements: () => undefined,
    remove: () => {
      rmSync(folder, { recursive: true });
      return Promise.resolve();
    },
  };
}

function mariadb(server: MariaDb): BenchEngine {
  const [version = ''] = server.sql('SELECT VERSION()');
  return {
    name: 'mariadb',
    version: version.replace(/-.*/, ''),
    pids: [server.pid],
    create: (database) => {
      server.sql(`CREATE DATABASE ${database} CHARACTER SET utf8mb4`);
      return server.urlOf(database);
    },
    sql: (statements) => server.sql(statements),
    statements: () => Number(server.sql("SHOW GLOBAL STATUS LIKE 'Questions'")[0]?.split('\t')[1]),
    remove: () => server.remove(),
  };
}
