import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { MariaDb } from '../../servers.js';

export type EngineName = 'sqlite' | 'mariadb';

/** A database engine of the benchmark. Creates databases and counts the statements of their server. */
export interface BenchEngine {
  readonly name: EngineName;
  readonly version: string;
  /** Ids of the processes of the database server. Empty for SQLite. */
  readonly pids: readonly number[];
  /** Creates an empty database. @returns its URL. */
  create(name: string): string;
  /** Runs statements on the database server. @throws Error for SQLite. */
  runSql(statements: string): string[];
  /**
   * Returns the URL of the database for programs that write alongside the service. It is a copy of a SQLite database,
   * because the service ends if another program writes to its file. The service must not be running.
   */
  copyForBaselines(url: string): string;
  /** Returns the number of statements that the server has run so far, or undefined for SQLite. */
  countStatements(): number | undefined;
  remove(): Promise<void>;
}

export const hasMariaDb = (): boolean => spawnSync('mariadbd', ['--version']).status === 0;

/** Starts an engine with its server on the given cores. */
export async function startEngine(name: EngineName, cores: string | undefined): Promise<BenchEngine> {
  return name === 'sqlite' ? startSqlite() : useMariadb(await MariaDb.create(cores));
}

function startSqlite(): BenchEngine {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-bench-'));
  const memory = new DatabaseSync(':memory:');
  const { version } = memory.prepare('SELECT sqlite_version() AS version').get() as { version: string };
  memory.close();
  return {
    name: 'sqlite',
    version,
    pids: [],
    create: (database) => `sqlite:${join(folder, `${database}.sqlite`)}`,
    runSql: () => {
      throw new Error('SQLite has no server');
    },
    copyForBaselines: (url) => {
      copyFileSync(url.slice('sqlite:'.length), join(folder, 'baselines.sqlite'));
      return `sqlite:${join(folder, 'baselines.sqlite')}`;
    },
    countStatements: () => undefined,
    remove: () => {
      rmSync(folder, { recursive: true, maxRetries: 5, retryDelay: 100 }); // a worker of a killed service may still write
      return Promise.resolve();
    },
  };
}

function useMariadb(server: MariaDb): BenchEngine {
  const [version = ''] = server.sql('SELECT VERSION()');
  return {
    name: 'mariadb',
    version: version.replace(/-.*/, ''),
    pids: [server.pid],
    create: (database) => {
      server.sql(`CREATE DATABASE ${database} CHARACTER SET utf8mb4`);
      return server.urlOf(database);
    },
    runSql: (statements) => server.sql(statements),
    copyForBaselines: (url) => url,
    countStatements: () => Number(server.sql("SHOW GLOBAL STATUS LIKE 'Questions'")[0]?.split('\t')[1]),
    remove: () => server.remove(),
  };
}
