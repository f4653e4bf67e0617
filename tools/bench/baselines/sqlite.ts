import { DatabaseSync } from 'node:sqlite';
import type { Statement } from '../support/statements.js';
import type { Fill, Replay, Row } from './replay.js';

/**
 * Replays prepared statements on one connection with the settings of the service. Transactions are never interleaved.
 */
export function createSqliteReplay(file: string, statements: readonly Statement[]): Replay {
  const connection = new DatabaseSync(file);
  connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 5000;');
  type Step = (fill: Fill, found: Row[][]) => void;
  const steps = statements.map(({ sql, params }): Step => {
    if (sql === 'BEGIN' || sql === 'COMMIT')
      return () => {
        connection.exec(sql === 'BEGIN' ? 'BEGIN IMMEDIATE' : sql);
      };
    const prepared = connection.prepare(sql);
    if (!/^\s*(SELECT|WITH)/i.test(sql)) return (fill) => prepared.run(...fill(params));
    const single = /WHERE (uuid|key_hash) (= \?|IN \(\?\))$/.test(sql);
    return (fill, found) => {
      found.push((single ? [prepared.get(...fill(params))] : prepared.all(...fill(params))) as Row[]);
    };
  });
  return (fill, done) => {
    const found: Row[][] = [];
    for (const step of steps) step(fill, found);
    done(null, found);
  };
}
