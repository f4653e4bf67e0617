import { getMetadataArgsStorage } from 'typeorm';
import { type Sql, type SqlValue, placeholders } from './sql.js';

/** Values named in one statement: SQLite binds 32,766 of them, MySQL 65,535. */
const MAX_PARAMS = 30_000;

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

/** Inserts all rows at once. */
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
  const tail =
    sql.dialect === 'sqlite'
      ? ` ON CONFLICT (${key}) DO UPDATE SET ${others.map((name) => `${name} = excluded.${name}`).join(', ')}`
      : ` ON DUPLICATE KEY UPDATE ${others.map((name) => `${name} = VALUES(${name})`).join(', ')}`;
  await writeRows(sql, entity, rows, tail);
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

async function writeRows(sql: Sql, entity: Entity, rows: readonly object[], tail: string): Promise<void> {
  if (rows.length === 0) return;
  const columns = columnsOf(entity);
  await sql.insert(
    { head: `INSERT INTO ${tableOf(entity)} (${columns.join(', ')}) VALUES `, columns: columns.length, tail },
    rows.map((row) => columns.map((column) => (row as Record_)[column] ?? null)),
  );
}
