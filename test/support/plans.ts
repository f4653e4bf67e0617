import Connection from 'libsql';
import type { Sql } from '../../src/database/engine/sql.js';
import type { TestApp } from './app.js';
import { ENGINE } from './database.js';
import { databaseOf } from './people.js';
import type { Statement } from './recorder.js';

/** How an engine answers a statement. */
export interface Plan {
  /** Tables that are read from end to end, without an index. */
  scans: string[];
  /** Rows and index entries that were read: on SQLite the steps of its virtual machine, at least four for each. */
  effort: number;
  text: string;
}

type Json = Record<string, unknown>;
interface Steps {
  nstep: number;
}

/** Asks the engine for its plan, and runs the statement: what it writes is rolled back. */
export async function planOf(app: TestApp, statement: Statement): Promise<Plan> {
  if (ENGINE === 'sqlite') return ofSqlite(app.database.url.slice('sqlite:'.length), statement);
  const tx = await databaseOf(app).begin();
  try {
    return await ofMariadb(tx, statement);
  } finally {
    await tx.rollback();
  }
}

/** On its own connection: the driver leaves the plan of a write open, and then nothing could commit. */
function ofSqlite(file: string, { sql, params }: Statement): Plan {
  const connection = new Connection(file);
  try {
    const lines = connection.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(params) as { detail: string }[];
    const details = lines.map(({ detail }) => detail);
    connection.exec('BEGIN IMMEDIATE');
    const asked = connection.prepare(sql);
    if (asked.reader) asked.all(params);
    else asked.run(params);
    const { nstep } = connection.prepare('SELECT nstep FROM sqlite_stmt WHERE sql = ?').get(sql) as Steps;
    const scans = details.flatMap((line) => /^SCAN (\w+)(?!.*USING)/.exec(line)?.[1] ?? []);
    return { scans: named(scans, sql), effort: nstep, text: details.join('\n') };
  } finally {
    connection.exec('ROLLBACK');
    connection.close();
  }
}

async function ofMariadb(tx: Sql, { sql, params }: Statement): Promise<Plan> {
  const [row] = await tx.query<{ ANALYZE: string }>(`ANALYZE FORMAT=JSON ${sql}`, params);
  if (!row) throw new Error('MariaDB does not say what a statement did');
  const tables = [...objectsIn(JSON.parse(row.ANALYZE.replace(/\\(?!["\\/bfnrtu])/g, '\\\\')))].filter(
    ({ table_name: name }) => name !== undefined,
  );
  const scans = tables
    .filter(({ access_type: type }) => type === 'ALL')
    .map((table) => String(table['table_name']));
  const effort = tables.reduce((sum, table) => sum + number(table['r_rows']) * number(table['r_loops']), 0);
  return { scans: named(scans, sql), effort, text: row.ANALYZE };
}

/** The tables of the names in a plan. A name that is not a table is an intermediate result. */
function named(names: readonly string[], sql: string): string[] {
  const aliases = [
    ...sql.matchAll(/\b(?:FROM|JOIN|UPDATE)\s+(\w+)(?:\s+(?:AS\s+)?(?!WHERE|JOIN|ORDER)(\w+))?/g),
  ];
  return names
    .flatMap((name) => aliases.find(([, table, alias]) => alias === name || table === name)?.[1] ?? [])
    .filter((table) => !sql.includes(`WITH RECURSIVE ${table} `));
}

const number = (value: unknown): number => (typeof value === 'number' ? value : 0);

function* objectsIn(value: unknown): Generator<Json> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Json;
  for (const part of Object.values(value)) yield* objectsIn(part);
}
