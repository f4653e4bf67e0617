import type { PoolConnection, ResultSetHeader } from 'mysql2';
import { DatabaseFault, ofChange, ofCommit, pauseAfter, repeated } from '../engine/database-error.js';
import { NoWriterError } from './choose-session.js';
import type { MysqlPool } from './mysql-pool.js';
import { insertAll } from './mysql-insert.js';
import {
  type Reject,
  type Result,
  type Rows,
  breakConnection,
  killStatement,
  send,
  sent,
} from './mysql-statement.js';
import { readState, writabilityOf } from './session.js';
import {
  type Engine,
  type InsertStatement,
  type Load,
  type OpenTransaction,
  type SqlValue,
  type Writability,
  reasonOf,
} from '../engine/sql.js';

type Params = readonly SqlValue[];
type Reading<R extends Result, T> = (result: R) => T;
/** Converts the error of a statement to the error that the caller gets. */
type Meaning = (error: Error) => Error;

const asIs: Meaning = (error) => error;

/**
 * MariaDB or MySQL on a pool of connections. Statements outside of transactions are retried as `computeRetryDelay`
 * decides. A change whose answer was lost has the fault `unknown` and is not retried.
 */
export class MysqlEngine implements Engine {
  readonly dialect = 'mysql';

  constructor(private readonly pool: MysqlPool) {}

  query<T extends object>(sql: string, params: Params = []): Promise<T[]> {
    return this.alone(sql, params, (rows: Rows<T>) => rows, asIs);
  }

  /** Runs the statement on a connection of the pool. The signal kills it on the server. */
  async aside<T extends object>(sql: string, params: Params = [], signal?: AbortSignal): Promise<T[]> {
    if (!signal) return this.query<T>(sql, params);
    return repeated('statement', async () => {
      const connection = await this.acquired();
      const stop = (): void => {
        killStatement(connection);
        breakConnection(connection, 'the statement was stopped');
      };
      try {
        signal.throwIfAborted();
        signal.addEventListener('abort', stop, { once: true });
        return await sent<Rows<T>>(connection, sql, params);
      } catch (error) {
        throw signal.aborted ? reasonOf(signal) : this.applyFailure(connection, error, asIs);
      } finally {
        signal.removeEventListener('abort', stop);
        if (signal.aborted) this.pool.discard(connection);
        else this.pool.release(connection);
      }
    });
  }

  first<T extends object>(sql: string, params: Params = []): Promise<T | undefined> {
    return this.alone(sql, params, (rows: Rows<T>) => rows[0], asIs);
  }

  execute(sql: string, params: Params = []): Promise<number> {
    return this.alone(sql, params, (result: ResultSetHeader) => result.affectedRows, ofChange);
  }

  /** Inserts all rows or none, in a transaction of its own. */
  async insert(statement: InsertStatement, rows: readonly SqlValue[][]): Promise<void> {
    await repeated('statement', async () => {
      const tx = await this.begin();
      try {
        await tx.insert(statement, rows);
        await tx.commit();
      } finally {
        await tx.rollback().catch(() => undefined); // the first error is the one to report
      }
    });
  }

  get load(): Load {
    return this.pool.load;
  }

  close(): Promise<void> {
    return this.pool.close();
  }

  async writability(): Promise<Writability> {
    const connection = await this.acquired().catch((error: unknown) => {
      if (error instanceof DatabaseFault && error.cause instanceof NoWriterError)
        return error.cause.writability;
      throw error;
    });
    if (typeof connection === 'string') return connection;
    try {
      return writabilityOf(await readState(connection));
    } catch (error) {
      throw this.applyFailure(connection, error, asIs);
    } finally {
      this.pool.release(connection);
    }
  }

  async begin(): Promise<OpenTransaction> {
    const connection = await this.acquired();
    const fail = (error: unknown): never => {
      throw this.applyFailure(connection, error, asIs);
    };
    try {
      await sent(connection, 'START TRANSACTION');
    } catch (error) {
      this.pool.discard(connection);
      return fail(error);
    }
    let ended = false;
    const end = async (statement: string, meaning: Meaning): Promise<void> => {
      ended = true;
      try {
        await sent(connection, statement);
      } catch (error) {
        const failure = this.applyFailure(connection, error, meaning);
        this.pool.discard(connection);
        throw failure;
      }
      this.pool.release(connection);
    };
    return {
      dialect: this.dialect,
      query: <T extends object>(sql: string, params: Params = []): Promise<T[]> =>
        sent<Rows<T>>(connection, sql, params).catch(fail),
      first: async <T extends object>(sql: string, params: Params = []): Promise<T | undefined> =>
        (await sent<Rows<T>>(connection, sql, params).catch(fail))[0],
      execute: async (sql, params = []) =>
        (await sent<ResultSetHeader>(connection, sql, params).catch(fail)).affectedRows,
      insert: (statement, rows) => insertAll(connection, statement, rows).catch(fail),
      commit: async () => {
        if (!this.pool.isBroken(connection)) return end('COMMIT', ofCommit);
        ended = true;
        this.pool.discard(connection);
        throw new DatabaseFault('moved', new Error('the connection broke before the commit'));
      },
      rollback: async () => {
        if (ended) return;
        if (!this.pool.isBroken(connection)) return end('ROLLBACK', asIs);
        ended = true;
        this.pool.discard(connection);
      },
    };
  }

  /**
   * Runs a statement with retries, and returns the part of its result that `read` selects. It uses callbacks, which are
   * cheaper than promises.
   */
  private alone<R extends Result, T>(
    sql: string,
    params: Params,
    read: Reading<R, T>,
    meaning: Meaning,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const started = Date.now();
      let attempts = 0;
      const failed: Reject = (error) => {
        const pause = pauseAfter(error, 'statement', ++attempts, Date.now() - started);
        if (pause === undefined) reject(error);
        else setTimeout(attempt, pause);
      };
      const run = (connection: PoolConnection): void => {
        const answer = (result: R): void => {
          this.pool.release(connection);
          resolve(read(result));
        };
        const fail: Reject = (error) => {
          const failure = this.applyFailure(connection, error, meaning);
          this.pool.release(connection);
          failed(failure);
        };
        send(connection, sql, params, answer, fail);
      };
      const attempt = (): void => {
        this.pool.acquire(run, failed);
      };
      attempt();
    });
  }

  private applyFailure(connection: PoolConnection, error: unknown, meaning: Meaning): Error {
    return this.pool.applyFailure(
      connection,
      meaning(error instanceof Error ? error : new Error(String(error))),
    );
  }

  private acquired(): Promise<PoolConnection> {
    return new Promise((resolve, reject) => {
      this.pool.acquire(resolve, reject);
    });
  }
}
