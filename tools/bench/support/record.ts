import 'reflect-metadata';
import { createApp } from '../../../src/create-app.js';
import { sha256 } from '../../../src/platform/common/secrets.js';
import { isDbTime, now } from '../../../src/platform/common/time.js';
import { isUuid } from '../../../src/platform/common/uuid.js';
import { loadEnv } from '../../../src/platform/config/env.js';
import { DATABASE, type Database } from '../../../src/platform/database/engine/database.js';
import { buildMultiRowInserts } from '../../../src/platform/database/mysql/mysql-insert.js';
import {
  type InsertStatement,
  type Sql,
  type SqlValue,
  insertHeadOf,
  toPlaceholders,
} from '../../../src/platform/database/engine/sql.js';
import { KEY } from '../../servers.js';
import { SEEDED, formsOf } from './person.js';
import { FIRST_SERIAL, type RequestOf } from './requests.js';
import { fetchText } from './send.js';
import type { Param, Statement } from './statements.js';

type Note = (sql: string, params: readonly SqlValue[]) => void;

/**
 * Records the statements that the service sends to its database for a request, with placeholders for values that differ
 * between requests. Sends requests for users `number`, `number + 1` … until two in a row give the same statements,
 * because the first request of a key also stores when the key was used.
 */
export async function record(url: string, requestOf: RequestOf, number: number): Promise<Statement[]> {
  const app = await createApp(loadEnv({ DATABASE_URL: url, LOG_LEVEL: 'silent' }));
  try {
    await app.listen(0, '127.0.0.1');
    let notes: [string, readonly SqlValue[]][] = [];
    tap(app.get<Database>(DATABASE), (sql, params) => notes.push([sql, params]));
    let before = '';
    for (let n = number; n < number + 10; n++) {
      const serial = FIRST_SERIAL + n;
      notes = [];
      const since = now();
      await fetchText(await app.getUrl(), requestOf(n, serial));
      // The import worker looks for work every second.
      const statements = notes.filter(([sql]) => !sql.includes('import_runs'));
      const all = statements.map(([sql]) => sql).join(';');
      if (all === before)
        return statements.map(([sql, params]) => toStatement(sql, params, n, serial, since));
      before = all;
    }
    throw new Error('no two consecutive requests sent the same statements');
  } finally {
    await app.close();
  }
}

function toStatement(
  sql: string,
  params: readonly SqlValue[],
  n: number,
  serial: number,
  since: string,
): Statement {
  const forms = [...formsOf(n), String(serial)];
  return { sql, params: params.map((value) => toParam(value, n, forms, since)) };
}

function toParam(value: SqlValue, n: number, forms: readonly string[], since: string): Param {
  if (value === n) return { number: true };
  if (typeof value !== 'string') return { constant: value };
  if (value === sha256(KEY)) return { keyHash: true };
  if (isDbTime(value) && value >= since) return { now: true };
  const parts = value.split(new RegExp(`(${forms.join('|')})`));
  if (parts.length > 1) return { text: parts.map((part, index) => (index % 2 ? forms.indexOf(part) : part)) };
  return isUuid(value) && !value.startsWith(SEEDED) ? { fresh: value } : { constant: value };
}

/** Records every statement of a database before it is sent. */
function tap(database: Database, note: Note): void {
  const original = { begin: database.begin.bind(database), ...bind(database) };
  Object.assign(database, wrap(original, note), {
    begin: async () => {
      note('BEGIN', []);
      const tx = await original.begin();
      const commit = async (): Promise<void> => {
        note('COMMIT', []);
        await tx.commit();
      };
      return { dialect: tx.dialect, ...wrap(bind(tx), note), commit, rollback: () => tx.rollback() };
    },
  });
}

type Statements = Pick<Sql, 'query' | 'queryOne' | 'execute' | 'insert'>;

const bind = (sql: Sql): Sql => ({
  dialect: sql.dialect,
  query: sql.query.bind(sql),
  queryOne: sql.queryOne.bind(sql),
  execute: sql.execute.bind(sql),
  insert: sql.insert.bind(sql),
});

function wrap(sql: Sql, note: Note): Statements {
  return {
    query: (text, params = []) => (note(text, params), sql.query(text, params)),
    queryOne: (text, params = []) => (note(text, params), sql.queryOne(text, params)),
    execute: (text, params = []) => (note(text, params), sql.execute(text, params)),
    insert: (statement, rows) => {
      for (const { sql: text, params } of splitInsert(sql.dialect, statement, rows)) note(text, params);
      return sql.insert(statement, rows);
    },
  };
}

/** Splits an insert into statements as the engines do: SQLite row by row, MariaDB many rows at once. */
function splitInsert(
  dialect: Sql['dialect'],
  statement: InsertStatement,
  rows: readonly SqlValue[][],
): Iterable<{ sql: string; params: readonly SqlValue[] }> {
  if (dialect === 'mysql') return buildMultiRowInserts(statement, rows);
  const values = toPlaceholders(statement.columns.length);
  const sql = `${insertHeadOf(statement)}(${values})${statement.tail ?? ''}`;
  return rows.map((params) => ({ sql, params }));
}
