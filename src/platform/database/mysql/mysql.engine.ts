import type { Connection, PoolConnection, ResultSetHeader } from 'mysql2';
import {
  DatabaseError,
  toChangeError,
  toCommitError,
  computeRetryDelay,
  runWithRetry,
} from '../engine/database-error.js';
import { NoWriterError, readState, writeStateOf } from './session.js';
import type { MysqlPool } from './mysql-pool.js';
import { insertAll } from './mysql-insert.js';
import {
  type Reject,
  type Result,
  type Rows,
  breakConnection,
  killStatement,
  sendStatement,
  runQuery,
} from './mysql-statement.js';
import { assertPrivileges } from './privileges.js';
import { WriteProbe } from '../engine/write-probe.js';
import {
  type Engine,
  type InsertStatement,
  type ConnectionUsage,
  type OpenTransaction,
  type Sql,
  type SqlValue,
  type WriteState,
  abortReasonOf,
} from '../engine/sql.js';

type Params = readonly SqlValue[];
type ResultReader<R extends Result, T> = (result: R) => T;
type ErrorConverter = (error: Error) => Error;

/** Creates an `Sql` that runs statements on one connection. @param fail converts an error, and throws the result. */
export const createSql = (connection: Connection, fail?: (error: unknown) => never): Sql => ({
  dialect: 'mysql',
  query: <T extends object>(sql: string, params: Params = []): Promise<T[]> =>
    runQuery<Rows<T>>(connection, sql, params).catch(fail),
  queryOne: async <T extends object>(sql: string, params: Params = []): Promise<T | undefined> =>
    (await runQuery<Rows<T>>(connection, sql, params).catch(fail))[0],
  execute: async (sql, params = []) =>
    (await runQuery<ResultSetHeader>(connection, sql, params).catch(fail)).affectedRows,
  insert: (statement, rows) => insertAll(connection, statement, rows).catch(fail),
});

/**
 * MariaDB or MySQL on a pool of connections. Statements outside of transactions are retried as `computeRetryDelay` decides.
 * A change whose response was lost fails with the fault `unknown` and is not retried.
 */
export class MysqlEngine implements Engine {
  readonly dialect = 'mysql';

  private readonly probe = new WriteProbe();

  constructor(private readonly pool: MysqlPool) {}

  query<T extends object>(sql: string, params: Params = []): Promise<T[]> {
    return this.runStatement(sql, params, (rows: Rows<T>) => rows);
  }

  /** Runs the statement on a connection of the pool. If the signal aborts, the statement is also killed on the server. */
  async scan<T extends object>(sql: string, params: Params = [], signal?: AbortSignal): Promise<T[]> {
    if (!signal) return this.query<T>(sql, params);
    return runWithRetry('statement', async () => {
      const connection = await this.acquireConnection();
      const stop = (): void => {
        killStatement(connection);
        breakConnection(connection, 'the statement was stopped');
      };
      try {
        signal.throwIfAborted();
        signal.addEventListener('abort', stop, { once: true });
        return await runQuery<Rows<T>>(connection, sql, params);
      } catch (error) {
        throw signal.aborted ? abortReasonOf(signal) : this.recordFailure(connection, error);
      } finally {
        signal.removeEventListener('abort', stop);
        if (signal.aborted) this.pool.discard(connection);
        else this.pool.release(connection);
      }
    });
  }

  queryOne<T extends object>(sql: string, params: Params = []): Promise<T | undefined> {
    return this.runStatement(sql, params, (rows: Rows<T>) => rows[0]);
  }

  execute(sql: string, params: Params = []): Promise<number> {
    return this.runStatement(sql, params, (result: ResultSetHeader) => result.affectedRows, toChangeError);
  }

  async insert(statement: InsertStatement, rows: readonly SqlValue[][]): Promise<void> {
    await runWithRetry('statement', async () => {
      const tx = await this.begin();
      try {
        await tx.insert(statement, rows);
        await tx.commit();
      } finally {
        await tx.rollback().catch(() => undefined); // report the first error, not the error of the rollback
      }
    });
  }

  get usage(): ConnectionUsage {
    return this.pool.load;
  }

  close(): Promise<void> {
    return this.pool.close();
  }

  checkWriteState(): Promise<WriteState> {
    return runWithRetry('statement', async () => {
      const state = await this.readServerState();
      if (state === 'writable') await this.probe.run(this, assertPrivileges);
      return state;
    });
  }

  private async readServerState(): Promise<WriteState> {
    const connection = await this.acquireConnection().catch((error: unknown) => {
      if (error instanceof DatabaseError && error.cause instanceof NoWriterError)
        return error.cause.writeState;
      throw error;
    });
    if (typeof connection === 'string') return connection;
    try {
      return writeStateOf(await readState(connection));
    } catch (error) {
      throw this.recordFailure(connection, error);
    } finally {
      this.pool.release(connection);
    }
  }

  async begin(): Promise<OpenTransaction> {
    const connection = await this.acquireConnection();
    const fail = (error: unknown): never => {
      throw this.recordFailure(connection, error);
    };
    try {
      await runQuery(connection, 'START TRANSACTION');
    } catch (error) {
      this.pool.discard(connection);
      return fail(error);
    }
    let ended = false;
    const endTransaction = async (statement: string, convertError?: ErrorConverter): Promise<void> => {
      ended = true;
      try {
        await runQuery(connection, statement);
      } catch (error) {
        const failure = this.recordFailure(connection, error, convertError);
        this.pool.discard(connection);
        throw failure;
      }
      this.pool.release(connection);
    };
    return {
      ...createSql(connection, fail),
      commit: async () => {
        if (!this.pool.isBroken(connection)) return endTransaction('COMMIT', toCommitError);
        ended = true;
        this.pool.discard(connection);
        throw new DatabaseError('moved', new Error('the connection broke before the commit'));
      },
      rollback: async () => {
        if (ended) return;
        if (!this.pool.isBroken(connection)) return endTransaction('ROLLBACK');
        ended = true;
        this.pool.discard(connection);
      },
    };
  }

  /**
   * Runs a statement with retries, and returns the part of its result that `read` selects. Uses callbacks, which are
   * cheaper than promises.
   */
  private runStatement<R extends Result, T>(
    sql: string,
    params: Params,
    read: ResultReader<R, T>,
    convertError?: ErrorConverter,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const started = performance.now();
      let attempts = 0;
      const retryOrReject: Reject = (error) => {
        const pause = computeRetryDelay(error, 'statement', ++attempts, performance.now() - started);
        if (pause === undefined) reject(error);
        else setTimeout(attempt, pause);
      };
      const run = (connection: PoolConnection): void => {
        const handleResult = (result: R): void => {
          this.pool.release(connection);
          resolve(read(result));
        };
        const handleError: Reject = (error) => {
          const failure = this.recordFailure(connection, error, convertError);
          this.pool.release(connection);
          retryOrReject(failure);
        };
        sendStatement(connection, sql, params, handleResult, handleError);
      };
      const attempt = (): void => {
        this.pool.acquire(run, retryOrReject);
      };
      attempt();
    });
  }

  private recordFailure(connection: PoolConnection, error: unknown, convertError?: ErrorConverter): Error {
    const failure = error instanceof Error ? error : new Error(String(error));
    return this.probe.record(this.pool.recordFailure(connection, convertError?.(failure) ?? failure));
  }

  private acquireConnection(): Promise<PoolConnection> {
    return new Promise((resolve, reject) => {
      this.pool.acquire(resolve, reject);
    });
  }
}
