import { type InsertStatement, PREPARED_LENGTH, type SqlValue, placeholders } from './sql.js';

/** MySQL binds 65,535 values a statement. */
const MAX_PARAMS = 30_000;
const SEPARATOR = ', ';
/** Well under the smallest `max_allowed_packet` in use (16 MiB). */
const MAX_CHARACTERS = 2_000_000;

/**
 * Characters of a value, on average, from which it is cheaper for both sides to bind the values of a prepared statement
 * than to write and read them as text (documents); with short ones (search words) it is the other way round.
 */
const WIDE = 64;

/**
 * The rows as multi-row statements: one, or more where a limit of the server asks for it. Rows of long values come in
 * statements of one form, short enough to be kept prepared.
 */
export function* multiRow(
  { head, columns, tail }: InsertStatement,
  rows: readonly SqlValue[][],
): Generator<{ sql: string; params: SqlValue[] }> {
  const row = `(${placeholders(columns)})`;
  const statement = (params: SqlValue[]) => {
    const values = (row + SEPARATOR).repeat(params.length / columns).slice(0, -SEPARATOR.length);
    return { sql: `${head}${values}${tail}`, params };
  };
  const sizes = rows.map(sizeOf);
  const isWide = sizes.reduce((sum, size) => sum + size, 0) > WIDE * columns * rows.length;
  const kept = Math.floor((PREPARED_LENGTH - head.length - tail.length) / (row.length + SEPARATOR.length));
  const most = columns * Math.max(1, Math.min(isWide ? kept : Infinity, Math.floor(MAX_PARAMS / columns)));
  let params: SqlValue[] = [];
  let length = 0;
  for (const [index, values] of rows.entries()) {
    const size = sizes[index] ?? 0;
    if (params.length > 0 && (params.length >= most || length + size > MAX_CHARACTERS)) {
      yield statement(params);
      params = [];
      length = 0;
    }
    params.push(...values);
    length += size;
  }
  if (params.length > 0) yield statement(params);
}

const sizeOf = (values: readonly SqlValue[]): number =>
  values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 0);
