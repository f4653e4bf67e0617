import { type InsertStatement, type SqlValue, placeholders } from './sql.js';

/** MySQL binds 65,535 values a statement. */
const MAX_PARAMS = 30_000;
/** Well under the smallest `max_allowed_packet` in use (16 MiB). */
const MAX_CHARACTERS = 2_000_000;

/** The rows as multi-row statements: one, or more where a limit of the server asks for it. */
export function* multiRow(
  { head, columns, tail }: InsertStatement,
  rows: readonly SqlValue[][],
): Generator<{ sql: string; params: SqlValue[] }> {
  const row = `(${placeholders(columns)})`;
  const statement = (params: SqlValue[]) => {
    const values = Array.from({ length: params.length / columns }, () => row).join(', ');
    return { sql: `${head}${values}${tail}`, params };
  };
  let params: SqlValue[] = [];
  let length = 0;
  for (const values of rows) {
    const size = values.reduce<number>(
      (sum, value) => sum + (typeof value === 'string' ? value.length : 8),
      0,
    );
    if (params.length > 0 && (params.length + columns > MAX_PARAMS || length + size > MAX_CHARACTERS)) {
      yield statement(params);
      params = [];
      length = 0;
    }
    params.push(...values);
    length += size;
  }
  if (params.length > 0) yield statement(params);
}
