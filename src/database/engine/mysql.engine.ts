import type { Pool, PoolConnection, ResultSetHeader } from 'mysql2';
import { toDatabaseError } from './database-fault.js';
import {
  type Reject,
  type Resolve,
  type Result,
  type Rows,
  insertAll,
  send,
  sent,
} from './mysql-statement.js';
import { loadAll } from './mysql-load.js';
import type { Engine, InsertStatement, Load, OpenTransaction, SqlValue } from './sql.js';

type Params = readonly SqlValue[];
type Reading<R extends Result, T> = (result: R) => T;

/** Sent on every connection before its first use: no silent truncation, UTC, and reads of committed rows. */
const SESSION = [
  "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', time_zone = '+00:00'",
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
  'SET SESSION innodb_lock_wait_timeout = 5',
];

/** MariaDB or MySQL on a pool of mysql2 connections, which are opened when they are needed. */
export class MysqlEngine implements Engine {
  readonly dialect = 'mysql';
  private readonly ready = new WeakSet<PoolConnection>();
  private inUse = 0;
  private waiting = 0;

  constructor(private readonly pool: Pool) {}

  query<T extends object>(sql: string, params: Params = []): Promise<T[]> {
    return this.alone(sql, params, (rows: Rows<T>) => rows);
  }

  /** The server works beside this thread anyway. */
  aside<T extends object>(sql: string, params: Params = []): Promise<T[]> {
    return this.query(sql, params);
  }

  first<T extends object>(sql: string, params: Params = []): Promise<T | undefined> {
    return this.alone(sql, params, (rows: Rows<T>) => rows[0]);
  }

  execute(sql: string, params: Params = []): Promise<number> {
    return this.alone(sql, params, (result: ResultSetHeader) => result.affectedRows);
  }

  async insert(statement: InsertStatement, rows: readonly SqlValue[][]): Promise<void> {
    const connection = await this.acquired();
    try {
      await insertAll(connection, statement, rows);
    } finally {
      this.release(connection);
    }
  }

  get load(): Load {
    return { inUse: this.inUse, waiting: this.waiting };
  }

  close(): Promise<void> {
    return this.pool.promise().end();
  }

  async begin(): Promise<OpenTransaction> {
    const connection = await this.acquired();
    const control = async (statement: string): Promise<void> => {
      try {
        await sent(connection, statement);
      } catch (error) {
        this.discard(connection);
        throw error;
      }
    };
    const end = async (statement: string): Promise<void> => {
      await control(statement);
      this.release(connection);
    };
    let ended = false;
    await control('START TRANSACTION');
    return {
      dialect: this.dialect,
      query: <T extends object>(sql: string, params: Params = []): Promise<T[]> =>
        sent<Rows<T>>(connection, sql, params),
      first: async <T extends object>(sql: string, params: Params = []): Promise<T | undefined> =>
        (await sent<Rows<T>>(connection, sql, params))[0],
      execute: async (sql, params = []) =>
        (await sent<ResultSetHeader>(connection, sql, params)).affectedRows,
      insert: async (statement, rows) => {
        if (!(await loadAll(connection, statement, rows))) await insertAll(connection, statement, rows);
      },
      commit: () => {
        ended = true;
        return end('COMMIT');
      },
      rollback: async () => {
        if (!ended) await end('ROLLBACK');
      },
    };
  }

  /** A statement on any connection, and what `of` makes of its result. */
  private alone<R extends Result, T>(sql: string, params: Params, of: Reading<R, T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.acquire((connection) => {
        const answer = (result: R): void => {
          this.release(connection);
          resolve(of(result));
        };
        const fail: Reject = (error) => {
          this.release(connection);
          reject(error);
        };
        send(connection, sql, params, answer, fail);
      }, reject);
    });
  }

  private release(connection: PoolConnection): void {
    this.inUse--;
    connection.release();
  }

  /** For a connection in a state that is not known. */
  private discard(connection: PoolConnection): void {
    this.inUse--;
    connection.destroy();
  }

  private acquired(): Promise<PoolConnection> {
    return new Promise((resolve, reject) => {
      this.acquire(resolve, reject);
    });
  }

  /** A connection whose session is set up. */
  private acquire(resolve: Resolve<PoolConnection>, reject: Reject): void {
    this.waiting++;
    this.pool.getConnection((error, connection) => {
      this.waiting--;
      if (error) {
        reject(toDatabaseError(error));
        return;
      }
      this.inUse++;
      if (this.ready.has(connection)) resolve(connection);
      else this.prepare(connection).then(resolve, reject);
    });
  }

  private async prepare(connection: PoolConnection): Promise<PoolConnection> {
    try {
      for (const statement of SESSION) await sent(connection, statement);
    } catch (error) {
      this.discard(connection);
      throw error;
    }
    this.ready.add(connection);
    return connection;
  }
}
