import { parse } from 'csv-parse';
import { createPool } from 'mysql2/promise';
import { createReadStream } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { toPlaceholders } from '../../../src/platform/database/engine/sql.js';
import { USER_COLUMNS } from '../../../src/users/model/user.js';
import { StopWatch } from '../support/stop-watch.js';

/**
 * `parse-and-read.ts FILE URL`: parses a CSV file whose first column is the ExternalId, and reads the user of each row
 * once by that key. Prints the cost as JSON.
 */
const BATCH = 500;
const [, , file = '', url = ''] = process.argv;
const buildSql = (count: number): string =>
  `SELECT ${USER_COLUMNS.join(', ')} FROM users WHERE external_id_key IN (${toPlaceholders(count)})`;

type Read = (keys: string[]) => Promise<number>;

function createSqliteRead(): Read {
  const connection = new DatabaseSync(url.slice('sqlite:'.length));
  const prepared = connection.prepare(buildSql(BATCH));
  return async (keys) =>
    (keys.length === BATCH ? prepared : connection.prepare(buildSql(keys.length))).all(...keys).length;
}

function createMariadbRead(): Read {
  const { hostname, port, username, pathname } = new URL(url);
  const database = pathname.slice(1);
  const pool = createPool({
    host: hostname,
    port: Number(port),
    user: username,
    database,
    dateStrings: true,
  });
  return async (keys) => {
    const [rows] = await pool.execute(buildSql(keys.length), keys);
    return (rows as unknown[]).length;
  };
}

async function parseAndRead(read: Read): Promise<void> {
  const parser = parse({ from_line: 2, bom: true, record_delimiter: ['\r\n', '\n'] });
  let keys: string[] = [];
  let rows = 0;
  let users = 0;
  const readKeys = async (least: number): Promise<void> => {
    for (let record = parser.read() as string[] | null; record; record = parser.read() as string[] | null) {
      keys.push(record[0] ?? '');
      rows++;
    }
    while (keys.length >= least && keys.length > 0) {
      users += await read(keys.slice(0, BATCH));
      keys = keys.slice(BATCH);
    }
  };
  for await (const piece of createReadStream(file)) {
    parser.write(piece);
    await readKeys(BATCH);
  }
  parser.end();
  await readKeys(1);
  if (users !== rows) throw new Error(`${rows} rows, but ${users} users`);
}

const read = url.startsWith('sqlite:') ? createSqliteRead() : createMariadbRead();
const watch = new StopWatch();
await watch.measure(() => parseAndRead(read));
process.stdout.write(JSON.stringify(watch.spent));
process.exit();
