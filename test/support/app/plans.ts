import type { Sql } from '../../../src/platform/database/engine/sql.js';
import type { TestApp } from './app.js';
import { ENGINE } from './database.js';
import { databaseOf } from './people.js';
import type { Statement } from './recorder.js';
import { CountingCopy } from './steps.js';

/** Execution plan and cost of a statement. */
export interface Plan {
  /** Tables that are read completely, without an index. */
  scans: string[];
  /**
   * Rows and index entries that were read. On SQLite: steps of the virtual machine, at least four for each row or
   * entry.
   */
  effort: number;
  text: string;
}

type Json = Record<string, unknown>;

/** Yields the execution plan of each statement. The statement is run for that, and its changes are rolled back. */
export async function* explainStatements(
  app: TestApp,
  statements: readonly Statement[],
): AsyncGenerator<[Statement, Plan]> {
  if (ENGINE === 'mariadb') {
    for (const statement of statements) {
      const tx = await databaseOf(app).begin();
      yield [statement, await explainOnMariadb(tx, statement).finally(() => tx.rollback())];
    }
    return;
  }
  const copy = await CountingCopy.create(app);
  for (const statement of statements) yield [statement, explainOnSqlite(copy, statement)];
  copy.close();
}

function explainOnSqlite(copy: CountingCopy, { sql, params }: Statement): Plan {
  const details = copy.explain(sql, params);
  copy.exec('BEGIN');
  const effort = copy.countSteps(sql, params);
  copy.exec('ROLLBACK');
  const scans = details.flatMap((line) => /^SCAN (\w+)(?!.*USING)/.exec(line)?.[1] ?? []);
  return { scans: toTables(scans, sql), effort, text: details.join('\n') };
}

async function explainOnMariadb(tx: Sql, { sql, params }: Statement): Promise<Plan> {
  const [row] = await tx.query<{ ANALYZE: string }>(`ANALYZE FORMAT=JSON ${sql}`, params);
  if (!row) throw new Error('MariaDB returned no plan');
  const tables = [...listObjects(JSON.parse(row.ANALYZE.replace(/\\(?!["\\/bfnrtu])/g, '\\\\')))].filter(
    ({ table_name: name }) => name !== undefined,
  );
  const scans = tables
    .filter(({ access_type: type }) => type === 'ALL')
    .map((table) => String(table['table_name']));
  const effort = tables.reduce(
    (sum, table) => sum + toNumber(table['r_rows']) * toNumber(table['r_loops']),
    0,
  );
  return { scans: toTables(scans, sql), effort, text: row.ANALYZE };
}

/** Replaces aliases in a plan by table names. Names of intermediate results are removed. */
function toTables(names: readonly string[], sql: string): string[] {
  const aliases = [
    ...sql.matchAll(/\b(?:FROM|JOIN|UPDATE)\s+(\w+)(?:\s+(?:AS\s+)?(?!WHERE|JOIN|ORDER)(\w+))?/g),
  ];
  return names
    .flatMap((name) => aliases.find(([, table, alias]) => alias === name || table === name)?.[1] ?? [])
    .filter((table) => !sql.includes(`WITH RECURSIVE ${table} `));
}

const toNumber = (value: unknown): number => (typeof value === 'number' ? value : 0);

function* listObjects(value: unknown): Generator<Json> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Json;
  for (const part of Object.values(value)) yield* listObjects(part);
}
