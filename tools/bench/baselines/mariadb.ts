import { type PoolConnection, type QueryError, createPool } from 'mysql2';
import { MAX_PREPARED_LENGTH } from '../../../src/platform/database/engine/sql.js';
import type { Statement } from '../support/statements.js';
import type { Done, Fill, Replay, Row } from './replay.js';

const CONNECTIONS = 10;

/**
 * Replays statements with the pool of mysql2 and its callbacks. Uses prepared statements, and a separate connection for
 * a transaction.
 */
export function createMariadbReplay(url: string, statements: readonly Statement[]): Replay {
  const { hostname, port, username, pathname } = new URL(url);
  const pool = createPool({
    host: hostname,
    port: Number(port),
    user: username,
    database: pathname.slice(1),
    charset: 'utf8mb4',
    timezone: 'Z',
    dateStrings: true,
    connectionLimit: CONNECTIONS,
  });
  pool.on('connection', (connection) => {
    connection.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
  });
  const inTransaction = statements.some(({ sql }) => sql === 'BEGIN');
  if (!inTransaction)
    return (fill, done) => {
      runStatements(pool, statements, fill, done);
    };
  return (fill, done) => {
    pool.getConnection((error, connection) => {
      if (error) {
        done(error, []);
        return;
      }
      runStatements(connection, statements, fill, (failed, found) => {
        connection.release();
        done(failed, found);
      });
    });
  };
}

type Sender = Pick<PoolConnection, 'execute' | 'query'>;

function runStatements(sender: Sender, statements: readonly Statement[], fill: Fill, done: Done): void {
  const found: Row[][] = [];
  const next = (index: number): void => {
    const statement = statements[index];
    if (!statement) {
      done(null, found);
      return;
    }
    const { sql, params } = statement;
    const handleResult = (error: QueryError | null, result: unknown): void => {
      if (error) {
        done(error, found);
        return;
      }
      if (Array.isArray(result)) found.push(result as Row[]);
      next(index + 1);
    };
    if (params.length > 0 && sql.length <= MAX_PREPARED_LENGTH)
      sender.execute(sql, fill(params), handleResult);
    else sender.query(sql, fill(params), handleResult);
  };
  next(0);
}
