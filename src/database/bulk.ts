import { getMetadataArgsStorage } from 'typeorm';
import { type Sql, type SqlValue, placeholders } from './sql.js';

/** SQLite binds 32,766 values a statement, MySQL 65,535. */
const MAX_PARAMS = 30_000;
/** Well under the smallest `max_allowed_packet` in use (16 MiB). */
const MAX_CHARACTERS = 2_000_000;

type Entity = new () => object;
type Record_ = Readonly<Record<string, SqlValue>>;

/** Column names of an entity, in the order of its fields. */
function columnsOf(entity: Entity): string[] {
  return getMetadataArgsStorage()
    .columns.filter((column) => column.target === entity)
    .map((column) => column.propertyName);
}

function tableOf(entity: Entity): string {
  const table = getMetadataArgsStorage().tables.find((candidate) => candidate.target === entity);
  if (!table?.name) throw new Error(`${entity.name} is not an entity`);
  return table.name;
}

/** One multi-row INSERT for all rows (more only where an engine's limits ask for it). */
export async function insertRows<E extends object>(
  sql: Sql,
  entity: new () => E,
  rows: readonly E[],
): Promise<void> {
  await writeRows(sql, entity, rows, '');
}

/** As `insertRows`; a row whose primary key exists is overwritten in all its columns. */
export async function upsertRows<E extends object>(
  sql: Sql,
  entity: new () => E,
  key: keyof E & string,
  rows: readonly E[],
): Promise<void> {
  const others = columnsOf(entity).filter((column) => column !== key);
  const suffix =
    sql.dialect === 'sqlite'
      ? ` ON CONFLICT (${key}) DO UPDATE SET ${others.map((name) => `${name} = excluded.${name}`).join(', ')}`
      : ` ON DUPLICATE KEY UPDATE ${others.map((name) => `${name} = VALUES(${name})`).join(', ')}`;
  await writeRows(sql, entity, rows, suffix);
}

/** `DELETE … WHERE column IN (…)` */
export async function deleteRows(
  sql: Sql,
  entity: Entity,
  column: string,
  values: readonly SqlValue[],
): Promise<void> {
  for (let from = 0; from < values.length; from += MAX_PARAMS) {
    const part = values.slice(from, from + MAX_PARAMS);
    await sql.execute(
      `DELETE FROM ${tableOf(entity)} WHERE ${column} IN (${placeholders(part.length)})`,
      part,
    );
  }
}

async function writeRows(sql: Sql, entity: Entity, rows: readonly object[], suffix: string): Promise<void> {
  const columns = columnsOf(entity);
  const head = `INSERT INTO ${tableOf(entity)} (${columns.join(', ')}) VALUES `;
  const row = `(${placeholders(columns.length)})`;
  for (const part of parts(rows as readonly Record_[], columns)) {
    const values = Array.from({ length: part.length / columns.length }, () => row).join(', ');
    await sql.execute(`${head}${values}${suffix}`, part);
  }
}

/** Parameters of the rows, cut where a statement would outgrow the engines' limits. */
function* parts(rows: readonly Record_[], columns: readonly string[]): Generator<SqlValue[]> {
  let part: SqlValue[] = [];
  let length = 0;
  for (const row of rows) {
    const values = columns.map((column) => row[column] ?? null);
    const size = values.reduce<number>(
      (sum, value) => sum + (typeof value === 'string' ? value.length : 8),
      0,
    );
    if (part.length > 0 && (part.length + columns.length > MAX_PARAMS || length + size > MAX_CHARACTERS)) {
      yield part;
      part = [];
      length = 0;
    }
    part.push(...values);
    length += size;
  }
  if (part.length > 0) yield part;
}
