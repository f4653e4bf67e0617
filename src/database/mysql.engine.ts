import type { Pool, PoolConnection, QueryError } from 'mysql2';
import type { DataSource } from 'typeorm';
import { multiRow } from './multi-row.js';
import {
  type Engine,
  type InsertStatement,
  type Load,
  type OpenTransaction,
  PREPARED_LENGTH,
  type SqlValue,
  assertBindable,
} from './sql.js';

/** What every connection promises before its first use: no silent truncation, UTC, and reads of committed rows. */
const SESSION = [
  "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', time_zone = '+00:00'",
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
  'SET SESSION innodb_lock_wait_timeout = 5',
];

/** No statement of ours takes so long on a database that works. */
const STATEMENT_MILLIS = 15_000;

type Callback<T> = (error: QueryError | null, result: T) => void;
const promised = <T>(call: (done: Callback<T>) => void): Promise<T> =>
  new Promise((resolve, reject) => {
    call((error, result) => {
      if (error) reject(error);
      else resolve(result);
    });
  });

/** MariaDB or MySQL on TypeORM's pool of mysql2 connections. */
export class MysqlEngine implements Engine {
  readonly dialect = 'mysql';
  private readonly pool: Pool;
  private readonly ready = new WeakSet<PoolConnection>();
  private inUse = 0;
  private waiting = 0;

  constructor(dataSource: DataSource) {
    this.pool = (dataSource.driver as unknown as { pool: Pool }).pool;
  }

  async query<T extends object>(sql: string, params: readonly SqlValue[] = []): Promise<T[]> {
    return this.borrow((connection) => send<T[]>(connection, sql, params));
  }

  async execute(sql: string, params: readonly SqlValue[] = []): Promise<number> {
    return this.borrow(async (connection) => affected(connection, sql, params));
  }

  async insert(statement: InsertStatement, rows: readonly SqlValue[][]): Promise<void> {
    await this.borrow((connection) => insertAll(connection, statement, rows));
  }

  async settle(): Promise<void> {
    // The server keeps what it has.
  }

  get load(): Load {
    return { inUse: this.inUse, waiting: this.waiting };
  }

  async begin(): Promise<OpenTransaction> {
    const connection = await this.acquire();
    const end = async (statement: string): Promise<void> => {
      this.inUse--;
      try {
        await send(connection, statement, []);
        connection.release();
      } catch (error) {
        connection.destroy();
        throw error;
      }
    };
    let ended = false;
    await send(connection, 'START TRANSACTION', []).catch((error: unknown) => {
      this.inUse--;
      connection.destroy();
      throw error;
    });
    return {
      dialect: this.dialect,
      query: (sql, params = []) => send(connection, sql, params),
      execute: (sql, params = []) => affected(connection, sql, params),
      insert: (statement, rows) => insertAll(connection, statement, rows),
      commit: () => {
        ended = true;
        return end('COMMIT');
      },
      rollback: async () => {
        if (!ended) await end('ROLLBACK');
      },
    };
  }

  private async borrow<T>(use: (connection: PoolConnection) => Promise<T>): Promise<T> {
    const connection = await this.acquire();
    try {
      return await use(connection);
    } finally {
      this.inUse--;
      connection.release();
    }
  }

  private async acquire(): Promise<PoolConnection> {
    this.waiting++;
    const connection = await promised<PoolConnection>((done) => {
      this.pool.getConnection(done as Parameters<Pool['getConnection']>[0]);
    }).finally(() => this.waiting--);
    this.inUse++;
    if (this.ready.has(connection)) return connection;
    try {
      for (const statement of SESSION) await send(connection, statement, []);
    } catch (error) {
      this.inUse--;
      connection.destroy();
      throw error;
    }
    this.ready.add(connection);
    return connection;
  }
}

/** Short statements go prepared (the server parses them once), multi-row and control statements as text. */
function send<T>(connection: PoolConnection, sql: string, params: readonly SqlValue[]): Promise<T> {
  assertBindable(params);
  const prepare = params.length > 0 && sql.length <= PREPARED_LENGTH;
  const options = { sql, values: [...params], timeout: STATEMENT_MILLIS };
  return promised<T>((done) => {
    const settle = (error: QueryError | null, result: T): void => {
      // The server may still be at it: what comes later must not be taken for the answer to something else.
      if (error?.code === 'PROTOCOL_SEQUENCE_TIMEOUT') connection.destroy();
      done(error, result);
    };
    if (prepare) connection.execute(options, settle as never);
    else connection.query(options, settle as never);
  });
}

async function insertAll(
  connection: PoolConnection,
  statement: InsertStatement,
  rows: readonly SqlValue[][],
): Promise<void> {
  for (const { sql, params } of multiRow(statement, rows)) await send(connection, sql, params);
}

async function affected(
  connection: PoolConnection,
  sql: string,
  params: readonly SqlValue[],
): Promise<number> {
  const result = await send<{ affectedRows: number }>(connection, sql, params);
  return result.affectedRows;
}
