import { getMetadataArgsStorage } from 'typeorm';
import { type Sql, type SqlValue, placeholders } from './sql.js';

/** Values named in one statement: SQLite binds 32,766 of them, MySQL 65,535. */
const MAX_PARAMS = 30_000;

/** The values in as few parts as statements can name: a set of changes has no largest size. */
export function* inParts<T>(values: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < values.length; from += MAX_PARAMS) yield values.slice(from, from + MAX_PARAMS);
}

type Entity = new () => object;
/** A row of an entity: each of its fields is a value that a statement can bind. */
type Row<E> = { readonly [K in keyof E]: SqlValue };

interface Table {
  name: string;
  /** In the order of the entity's fields. */
  columns: readonly string[];
}

const tables = new Map<Entity, Table>();

/** Asked of TypeORM once: it looks through the columns of all entities. */
function tableOf(entity: Entity): Table {
  const known = tables.get(entity);
  if (known) return known;
  const storage = getMetadataArgsStorage();
  const name = storage.tables.find(({ target }) => target === entity)?.name;
  if (name === undefined) throw new Error(`${entity.name} is not an entity`);
  const columns = storage.columns
    .filter(({ target }) => target === entity)
    .map(({ propertyName }) => propertyName);
  const table = { name, columns };
  tables.set(entity, table);
  return table;
}

/** Rows of a SELECT that names any number of values. @param text the statement around a list of placeholders. */
export async function selectIn<T extends object>(
  sql: Sql,
  values: readonly string[],
  text: (list: string) => string,
): Promise<T[]> {
  const rows: T[] = [];
  for (const part of inParts(values))
    rows.push(...(await sql.query<T>(text(placeholders(part.length)), part)));
  return rows;
}

/** Inserts all rows at once. */
export async function insertRows<E extends Row<E>>(
  sql: Sql,
  entity: new () => E,
  rows: readonly E[],
): Promise<void> {
  await writeRows(sql, entity, rows, '');
}

/** As `insertRows`; a row whose primary key exists is overwritten in all its columns. */
export async function upsertRows<E extends Row<E>>(
  sql: Sql,
  entity: new () => E,
  key: keyof E & string,
  rows: readonly E[],
): Promise<void> {
  const others = tableOf(entity).columns.filter((column) => column !== key);
  const tail =
    sql.dialect === 'sqlite'
      ? ` ON CONFLICT (${key}) DO UPDATE SET ${others.map((name) => `${name} = excluded.${name}`).join(', ')}`
      : ` ON DUPLICATE KEY UPDATE ${others.map((name) => `${name} = VALUES(${name})`).join(', ')}`;
  await writeRows(sql, entity, rows, tail);
}

/** Writes the columns in which two states of a row differ. */
export async function updateRow<E extends Row<E>>(
  sql: Sql,
  entity: new () => E,
  key: keyof E & string,
  before: E,
  after: E,
): Promise<void> {
  const { name, columns } = tableOf(entity);
  const differing = columns.filter((column) => valueOf(before, column) !== valueOf(after, column));
  if (differing.length === 0) return;
  await sql.execute(
    `UPDATE ${name} SET ${differing.map((column) => `${column} = ?`).join(', ')} WHERE ${key} = ?`,
    [...differing.map((column) => valueOf(after, column)), after[key]],
  );
}

/** `DELETE … WHERE column IN (…)`. @returns the number of rows. */
export async function deleteRows(
  sql: Sql,
  entity: Entity,
  column: string,
  values: readonly SqlValue[],
): Promise<number> {
  let deleted = 0;
  for (const part of inParts(values)) {
    deleted += await sql.execute(
      `DELETE FROM ${tableOf(entity).name} WHERE ${column} IN (${placeholders(part.length)})`,
      part,
    );
  }
  return deleted;
}

async function writeRows<E extends Row<E>>(
  sql: Sql,
  entity: new () => E,
  rows: readonly E[],
  tail: string,
): Promise<void> {
  if (rows.length === 0) return;
  const { name, columns } = tableOf(entity);
  const head = `INSERT INTO ${name} (${columns.join(', ')}) VALUES `;
  await sql.insert(
    { head, columns: columns.length, tail },
    rows.map((row) => columns.map((column) => valueOf(row, column))),
  );
}

const valueOf = <E extends Row<E>>(row: E, column: string): SqlValue =>
  isField(row, column) ? row[column] : null;
const isField = <E extends object>(row: E, name: string): name is keyof E & string => name in row;
