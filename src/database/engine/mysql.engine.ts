import type { Pool, PoolConnection, QueryError } from 'mysql2';
import type { DataSource } from 'typeorm';
import { type Done, affected, insertAll, send, sent } from './mysql-statement.js';
import type { Engine, InsertStatement, Load, OpenTransaction, SqlValue } from './sql.js';

/** What every connection promises before its first use: no silent truncation, UTC, and reads of committed rows. */
const SESSION = [
  "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', time_zone = '+00:00'",
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
  'SET SESSION innodb_lock_wait_timeout = 5',
];

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

  query<T extends object>(sql: string, params: readonly SqlValue[] = []): Promise<T[]> {
    return this.alone(sql, params, (rows: T[]) => rows);
  }

  first<T extends object>(sql: string, params: readonly SqlValue[] = []): Promise<T | undefined> {
    return this.alone(sql, params, (rows: T[]) => rows[0]);
  }

  execute(sql: string, params: readonly SqlValue[] = []): Promise<number> {
    return this.alone(sql, params, (result: { affectedRows: number }) => result.affectedRows);
  }

  async insert(statement: InsertStatement, rows: readonly SqlValue[][]): Promise<void> {
    const connection = await this.acquired();
    try {
      await insertAll(connection, statement, rows);
    } finally {
      this.release(connection);
    }
  }

  async settle(): Promise<void> {
    // The server keeps what it has.
  }

  get load(): Load {
    return { inUse: this.inUse, waiting: this.waiting };
  }

  async begin(): Promise<OpenTransaction> {
    const connection = await this.acquired();
    const end = async (statement: string): Promise<void> => {
      this.inUse--;
      try {
        await sent(connection, statement);
        connection.release();
      } catch (error) {
        connection.destroy();
        throw error;
      }
    };
    let ended = false;
    await sent(connection, 'START TRANSACTION').catch((error: unknown) => {
      this.inUse--;
      connection.destroy();
      throw error;
    });
    return {
      dialect: this.dialect,
      query: (sql, params = []) => sent(connection, sql, params),
      first: async <T extends object>(sql: string, params: readonly SqlValue[] = []) =>
        (await sent<T[]>(connection, sql, params))[0],
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

  /** A statement on any connection, and what `of` makes of its result. */
  private alone<T>(sql: string, params: readonly SqlValue[], of: (result: never) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.acquire((error, connection) => {
        if (error) {
          reject(error);
          return;
        }
        const done: Done<never> = (failure, result) => {
          this.release(connection);
          if (failure) reject(failure);
          else resolve(of(result));
        };
        try {
          send(connection, sql, params, done);
        } catch (refused) {
          done(refused as QueryError, undefined as never);
        }
      });
    });
  }

  private release(connection: PoolConnection): void {
    this.inUse--;
    connection.release();
  }

  private acquired(): Promise<PoolConnection> {
    return new Promise((resolve, reject) => {
      this.acquire((error, connection) => {
        if (error) reject(error);
        else resolve(connection);
      });
    });
  }

  /** A connection that keeps its promises. */
  private acquire(done: Done<PoolConnection>): void {
    this.waiting++;
    this.pool.getConnection((error, connection) => {
      this.waiting--;
      if (error) {
        done(error as QueryError, connection);
        return;
      }
      this.inUse++;
      if (this.ready.has(connection)) done(null, connection);
      else this.prepare(connection, done);
    });
  }

  private prepare(connection: PoolConnection, done: Done<PoolConnection>): void {
    const promise = async (): Promise<void> => {
      for (const statement of SESSION) await sent(connection, statement);
      this.ready.add(connection);
    };
    promise().then(
      () => {
        done(null, connection);
      },
      (error: unknown) => {
        this.inUse--;
        connection.destroy();
        done(error as QueryError, connection);
      },
    );
  }
}
