import { getOrCreate } from '../common/maps.js';
import { type Sql, chunkValues, selectWhereIn } from './engine/sql.js';

/** Maximum number of keys in a statement. */
const MAX_KEYS = 64;

type Resolvers<T> = PromiseWithResolvers<T | undefined>;

/**
 * Finds rows by a unique column. The look-ups of one turn of the event loop share a statement (ADR 42). The statement
 * runs after the last of these look-ups, so that no result is older than its look-up.
 */
export class TurnLookup<T extends object> {
  private pending = new Map<string, Resolvers<T>>();

  /**
   * @param column name of the unique column in the result. The database must compare it byte by byte.
   * @param select the SELECT statement without its condition.
   */
  constructor(
    private readonly database: Pick<Sql, 'dialect' | 'query'>,
    private readonly column: keyof T & string,
    private readonly select: string,
  ) {}

  /** Finds the row with this key. Look-ups of the same key in one turn return the same object. */
  find(key: string): Promise<T | undefined> {
    if (this.pending.size === 0) setImmediate(this.send);
    return getOrCreate(this.pending, key, () => Promise.withResolvers<T | undefined>()).promise;
  }

  private readonly send = (): void => {
    const lookups = [...this.pending];
    this.pending.clear();
    for (const part of chunkValues(lookups, MAX_KEYS)) void this.load(new Map(part));
  };

  private async load(lookups: ReadonlyMap<string, Resolvers<T>>): Promise<void> {
    try {
      const toSql = (list: string) => `${this.select} WHERE ${this.column} IN (${list})`;
      const rows = await selectWhereIn<T>(this.database, [...lookups.keys()], toSql);
      for (const row of rows) lookups.get(String(row[this.column]))?.resolve(row);
      for (const { resolve } of lookups.values()) resolve(undefined); // has no effect on resolved keys
    } catch (error) {
      for (const { reject } of lookups.values()) reject(error);
    }
  }
}
