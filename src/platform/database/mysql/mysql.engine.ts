import type { ResultSetHeader } from 'mysql2';
import { DatabaseFault, ofChange, ofCommit } from '../engine/database-fault.js';
import { NoWriter } from './host-choice.js';
import { killStatement } from './mysql-kill.js';
import type { MysqlPool, Pooled } from './mysql-pool.js';
import { loadAll } from './mysql-load.js';
import { type Reject, type Result, type Rows, insertAll, send, sent } from './mysql-statement.js';
import { pauseAfter, repeated } from '../engine/retry.js';
import { writabilityOf } from './server-state.js';
import { askState } from './session.js';
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
/** What an error means for what the statement does. */
type Meaning = (error: Error) => Error;

const asIs: Meaning = (error) => error;

const always = (): boolean => true;

/** Calls `stop` when the signal aborts. @returns a call that ends this, and says whether it has not happened. */
function untilAborted(signal: AbortSignal | undefined, stop: (reason: Error) => void): () => boolean {
  if (!signal) return always;
  let stopped = false;
  const abort = (): void => {
    stopped = true;
    stop(reasonOf(signal));
  };
  signal.addEventListener('abort', abort, { once: true });
  return () => {
    signal.removeEventListener('abort', abort);
    return !stopped;
  };
}

/**
 * MariaDB or MySQL on a pool of connections. Statements outside of transactions are run again after a race and on
 * another connection (`pauseAfter`); a change whose answer was lost is `unknown` and is not.
 */
export class MysqlEngine implements Engine {
  readonly dialect = 'mysql';

  constructor(private readonly pool: MysqlPool) {}

  query<T extends object>(sql: string, params: Params = []): Promise<T[]> {
    return this.alone(sql, params, (rows: Rows<T>) => rows, asIs);
  }

  /** The server works beside this thread anyway. */
  aside<T extends object>(sql: string, params: Params = [], signal?: AbortSignal): Promise<T[]> {
    return this.alone(sql, params, (rows: Rows<T>) => rows, asIs, signal);
  }

  first<T extends object>(sql: string, params: Params = []): Promise<T | undefined> {
    return this.alone(sql, params, (rows: Rows<T>) => rows[0], asIs);
  }

  execute(sql: string, params: Params = []): Promise<number> {
    return this.alone(sql, params, (result: ResultSetHeader) => result.affectedRows, ofChange);
  }

  /** Outside of a transaction: all rows or none. */
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
    const session = await this.acquired().catch((error: unknown) => {
      if (error instanceof DatabaseFault && error.cause instanceof NoWriter) return error.cause.writability;
      throw error;
    });
    if (typeof session === 'string') return session;
    try {
      return writabilityOf(await askState(session.connection));
    } catch (error) {
      throw this.judged(session, error, asIs);
    } finally {
      this.pool.release(session);
    }
  }

  async begin(): Promise<OpenTransaction> {
    const session = await this.acquired();
    const { connection } = session;
    const judge = (error: unknown): never => {
      throw this.judged(session, error, asIs);
    };
    try {
      await sent(connection, 'START TRANSACTION');
    } catch (error) {
      this.pool.discard(session);
      return judge(error);
    }
    let ended = false;
    const end = async (statement: string, meaning: Meaning): Promise<void> => {
      ended = true;
      try {
        await sent(connection, statement);
      } catch (error) {
        const judged = this.judged(session, error, meaning);
        this.pool.discard(session);
        throw judged;
      }
      this.pool.release(session);
    };
    return {
      dialect: this.dialect,
      query: <T extends object>(sql: string, params: Params = []): Promise<T[]> =>
        sent<Rows<T>>(connection, sql, params).catch(judge),
      first: async <T extends object>(sql: string, params: Params = []): Promise<T | undefined> =>
        (await sent<Rows<T>>(connection, sql, params).catch(judge))[0],
      execute: async (sql, params = []) =>
        (await sent<ResultSetHeader>(connection, sql, params).catch(judge)).affectedRows,
      insert: async (statement, rows) => {
        const loaded = await loadAll(connection, statement, rows).catch(judge);
        if (!loaded) await insertAll(connection, statement, rows).catch(judge);
      },
      commit: async () => {
        if (!session.broken) return end('COMMIT', ofCommit);
        ended = true;
        this.pool.discard(session);
        throw new DatabaseFault('moved', new Error('the connection broke before the commit'));
      },
      rollback: async () => {
        if (ended) return;
        if (!session.broken) return end('ROLLBACK', asIs);
        ended = true;
        this.pool.discard(session);
      },
    };
  }

  /** A statement on any connection, and what `of` makes of its result. */
  private alone<R extends Result, T>(
    sql: string,
    params: Params,
    of: Reading<R, T>,
    meaning: Meaning,
    signal?: AbortSignal,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const started = Date.now();
      let attempts = 0;
      const failed: Reject = (error) => {
        const pause = pauseAfter(error, 'statement', ++attempts, Date.now() - started);
        if (pause === undefined) reject(error);
        else setTimeout(attempt, pause);
      };
      const run = (session: Pooled): void => {
        if (signal?.aborted) {
          this.pool.release(session);
          reject(reasonOf(signal));
          return;
        }
        const goesOn = untilAborted(signal, (reason) => {
          killStatement(session.connection);
          this.pool.discard(session);
          reject(reason);
        });
        const answer = (result: R): void => {
          if (!goesOn()) return;
          this.pool.release(session);
          resolve(of(result));
        };
        const fail: Reject = (error) => {
          if (!goesOn()) return;
          const judged = this.judged(session, error, meaning);
          this.pool.release(session);
          failed(judged);
        };
        send(session.connection, sql, params, answer, fail);
      };
      const attempt = (): void => {
        this.pool.acquire(run, failed);
      };
      attempt();
    });
  }

  private judged(session: Pooled, error: unknown, meaning: Meaning): Error {
    return this.pool.judge(session, meaning(error instanceof Error ? error : new Error(String(error))));
  }

  private acquired(): Promise<Pooled> {
    return new Promise((resolve, reject) => {
      this.pool.acquire(resolve, reject);
    });
  }
}
