import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Spent, runBaseline } from './run-baseline.js';
import type { BenchEngine } from './engine.js';
import { readCpu } from './meter.js';

/** Tables into which an import inserts rows. */
const TABLES = ['users', 'user_identifiers', 'user_roles', 'user_words', 'audit_events', 'import_rows'];

/** Copies the rows that an import has written into the same tables of another database, with the same indexes. */
export async function loadInBulk(
  engine: BenchEngine,
  from: string,
  to: string,
  cores: string | undefined,
): Promise<Spent> {
  if (engine.name === 'sqlite') {
    const [source, target] = [from, to].map((url) => url.slice('sqlite:'.length));
    return runBaseline('bulk-load', [source ?? '', target ?? '', ...TABLES], cores);
  }
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-load-'));
  const database = (url: string): string => new URL(url).pathname.slice(1);
  const file = (table: string): string => `'${join(folder, table)}'`;
  const forEachTable = (statement: (table: string) => string): string => TABLES.map(statement).join(';\n');
  try {
    chmodSync(folder, 0o777); // the server may run as another user
    engine.runSql(
      forEachTable(
        (table) =>
          `SELECT * FROM ${database(from)}.${table} INTO OUTFILE ${file(table)} CHARACTER SET binary`,
      ),
    );
    const started = performance.now();
    const cpu = readCpu(engine.pids);
    engine.runSql(
      forEachTable(
        (table) => `LOAD DATA INFILE ${file(table)} INTO TABLE ${database(to)}.${table} CHARACTER SET binary`,
      ),
    );
    return { seconds: (performance.now() - started) / 1000, cpuSeconds: readCpu(engine.pids) - cpu };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
