import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { toPlaceholders } from '../../../src/platform/database/engine/sql.js';
import { StopWatch } from '../support/stop-watch.js';

/**
 * `bulk-load.ts FROM TO TABLE…`: inserts the rows of one SQLite file into the same empty tables of another file, with
 * prepared statements and thousands of rows per transaction. Prints the cost of the inserts as JSON.
 */
const BATCH = 5000;
const [, , from = '', to = '', ...tables] = process.argv;
const source = new DatabaseSync(from);
const target = new DatabaseSync(to);
target.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
const watch = new StopWatch();

for (const table of tables) {
  const key = target
    .prepare(`SELECT name FROM pragma_table_info('${table}') WHERE pk > 0 ORDER BY pk`)
    .all() as { name: string }[];
  const order = key.map(({ name }) => name).join(', ');
  const select = source.prepare(`SELECT * FROM ${table} ORDER BY ${order}`);
  select.setReturnArrays(true);
  const rows = select.all() as unknown as SQLInputValue[][];
  const insert = target.prepare(`INSERT INTO ${table} VALUES (${toPlaceholders(rows[0]?.length ?? 0)})`);
  for (let at = 0; at < rows.length; at += BATCH) {
    const batch = rows.slice(at, at + BATCH);
    await watch.measure(() => {
      target.exec('BEGIN IMMEDIATE');
      for (const row of batch) insert.run(...row);
      target.exec('COMMIT');
    });
  }
}
process.stdout.write(JSON.stringify(watch.spent));
