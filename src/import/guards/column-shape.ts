import { isGarbled } from './garbled-text.js';
import { truncate } from '../../platform/common/text.js';
import { type GuardExample, MAX_EXAMPLES } from '../runs/guard-limits.js';
import { computeHash64 } from '../../users/set-rules/number-collections.js';

/** Example row of a guard. If the example is a user missing from the file, `line` is negative. */
export interface Example extends GuardExample {
  line: number;
}

/** Rows that a guard has found: their number, and some of them as examples. */
export interface Found {
  count: number;
  examples: readonly Example[];
}

export const NO_ROWS: Found = { count: 0, examples: [] };

/**
 * Maximum number of examples that are stored for a guard. It is twice the number that is shown, because example rows
 * may fail later.
 */
const KEPT = 2 * MAX_EXAMPLES;
const MAX_VALUE = 200;

/** Counts the rows that a guard finds, and stores the first rows as examples. */
export class FoundRows implements Found {
  count = 0;
  readonly examples: Example[] = [];

  add(example: () => Example): void {
    this.count++;
    // Copy the strings, because a substring would keep the string that it was cut from in memory.
    if (this.examples.length < KEPT) this.examples.push(structuredClone(example()));
  }

  remove(line: number): void {
    this.count--;
    const at = this.examples.findIndex((example) => example.line === line);
    if (at >= 0) this.examples.splice(at, 1);
  }
}

/** Returns the value of a key. If the key has no value yet, creates the value and adds it to the map. */
export function getOrCreate<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  const value = map.get(key) ?? create();
  map.set(key, value);
  return value;
}

export function shown(examples: readonly Example[]): GuardExample[] {
  return examples.slice(0, MAX_EXAMPLES).map(({ line, external_id, old, new: now }) => ({
    line: line > 0 ? line : null,
    external_id: truncate(external_id, 255),
    old: cut(old),
    new: cut(now),
  }));
}

function cut(value: unknown): unknown {
  if (typeof value === 'string') return truncate(value, MAX_VALUE);
  if (value === undefined) return null;
  const text = JSON.stringify(value);
  return text.length <= MAX_VALUE ? value : truncate(text, MAX_VALUE);
}

/** Returns a hash of a text as an integer of 53 bits, which a JavaScript number holds exactly. */
function hash53(text: string): number {
  const [high, low] = computeHash64(text);
  return (high >>> 0) * 2 ** 21 + (low >>> 11);
}

/** Maximum number of distinct values that are counted at the same time. */
const COUNTERS = 1024;

/**
 * Finds the most frequent value in bounded memory (Misra and Gries, 1982). Its count is exact for up to 1,024 distinct
 * values. For more values, the count is too low by at most a thousandth of all values.
 */
export class FrequentValues {
  private readonly counters = new Map<number, number>();
  /** Example rows by the hash of their value. Contains no values that occurred only once. */
  private readonly examples = new Map<number, FoundRows>();

  add(value: string, example: () => Example): void {
    const key = hash53(value);
    const count = this.counters.get(key);
    if (count !== undefined) {
      this.counters.set(key, count + 1);
      getOrCreate(this.examples, key, () => new FoundRows()).add(example);
    } else if (this.counters.size < COUNTERS) this.counters.set(key, 1);
    else this.makeRoom();
  }

  remove(value: string, line: number): void {
    const key = hash53(value);
    const count = this.counters.get(key);
    if (count === undefined) return;
    this.counters.set(key, count - 1);
    this.examples.get(key)?.remove(line);
  }

  get most(): Found {
    let most: [key: number, count: number] = [0, 0];
    for (const counter of this.counters) if (counter[1] > most[1]) most = counter;
    return { count: most[1], examples: this.examples.get(most[0])?.examples ?? [] };
  }

  private makeRoom(): void {
    for (const [key, count] of this.counters) {
      if (count > 1) this.counters.set(key, count - 1);
      else {
        this.counters.delete(key);
        this.examples.delete(key);
      }
    }
  }
}

/** Users count as different in a column if they have more distinct values than this number. */
const FEW_VALUES = 10;

/**
 * Collects the distinct values that users have in a column before the import, only until there are more than
 * `FEW_VALUES`.
 */
export class OldValues {
  private readonly known = new Set<number>();

  constructor(private readonly field: string) {}

  add(value: unknown): void {
    if (!this.areMany && isFilled(this.field, value)) this.known.add(hash53(textOf(value)));
  }

  get areMany(): boolean {
    return this.known.size > FEW_VALUES;
  }
}

const MAX_VALUES = 2 ** 15;

interface Moved {
  released: number;
  taken: number;
  example: Example | undefined;
}

/**
 * Counts the rows that take over a value from another row of the same plan. The count is exact for up to 32,768 values.
 * For more values, it is an estimate from a sample of the values. The sample is halved whenever it is full.
 */
export class ExchangedValues {
  private readonly values = new Map<number, Moved>();
  /** Number of low bits that must be 0 in the hash of a sampled value. Each further bit halves the sample. */
  private bits = 0;

  /**
   * Records that a row gives up a value.
   * @param by 1, or -1 to undo an earlier call for a row that has failed afterwards.
   */
  release(value: string, by = 1): void {
    const moved = this.moved(value);
    if (moved) moved.released += by;
  }

  take(value: string, example: () => Example): void {
    const moved = this.moved(value);
    if (!moved) return;
    moved.taken++;
    moved.example ??= example();
  }

  untake(value: string, line: number): void {
    const moved = this.moved(value);
    if (!moved) return;
    moved.taken--;
    if (moved.example?.line === line) moved.example = undefined;
  }

  get found(): Found {
    const moved = [...this.values.values()].filter(({ released }) => released > 0);
    const count = moved.reduce((sum, { taken }) => sum + taken, 0) * 2 ** this.bits;
    const examples = moved.flatMap(({ example }) => example ?? []);
    return { count, examples: examples.sort((a, b) => a.line - b.line) };
  }

  private moved(value: string): Moved | undefined {
    const key = hash53(value);
    if (!this.isKept(key)) return undefined;
    const known = this.values.get(key);
    if (known) return known;
    const moved = { released: 0, taken: 0, example: undefined };
    this.values.set(key, moved);
    while (this.values.size > MAX_VALUES) {
      this.bits++;
      for (const other of this.values.keys()) if (!this.isKept(other)) this.values.delete(other);
    }
    return this.isKept(key) ? moved : undefined;
  }

  private isKept(key: number): boolean {
    return key % 2 ** this.bits === 0;
  }
}

/** New values longer than this (in characters) are not checked for truncation. Names are always shorter. */
const MAX_LENGTH = 255;
/** Matches two adjacent letters or digits. A cut between them is inside a word. */
const MIDDLE = /^[\p{L}\p{N}]{2}$/u;

/** Returns the new length of a value that was cut inside a word, otherwise undefined. */
function cutAt(old: unknown, now: unknown): number | undefined {
  if (typeof old !== 'string' || typeof now !== 'string') return undefined;
  const { length } = now;
  if (length === 0 || length > MAX_LENGTH || length >= old.length || !old.startsWith(now)) return undefined;
  return MIDDLE.test(`${now.at(-1)}${old.charAt(length)}`) ? length : undefined;
}

/** Summary of the changes of a plan to one column of existing users. Its size does not depend on the number of rows. */
export class ColumnShape {
  /** Users whose value is replaced by another value. In a boolean column, users whose value becomes `true`. */
  readonly changes = new FoundRows();
  /** Users whose value is removed. In a boolean column, users whose value becomes `false`. */
  readonly clearings = new FoundRows();
  readonly damages = new FoundRows();
  /** Maps a length to the rows whose value was cut inside a word to this length. */
  private readonly cuts = new Map<number, FoundRows>();
  private readonly news = new FrequentValues();
  private isFlag = false;

  constructor(
    readonly field: string,
    private readonly olds: OldValues,
  ) {}

  add(old: unknown, now: unknown, row: { line: number; external_id: string }): void {
    const example = (): Example => ({ ...row, old, new: now });
    for (const rows of this.selectRows(old, now)) rows.add(example);
    if (typeof now === 'boolean') {
      this.isFlag = true;
      return;
    }
    this.olds.add(old);
    if (isFilled(this.field, now)) this.news.add(textOf(now), example);
  }

  remove(old: unknown, now: unknown, line: number): void {
    for (const rows of this.selectRows(old, now)) rows.remove(line);
    if (typeof now !== 'boolean' && isFilled(this.field, now)) this.news.remove(textOf(now), line);
  }

  /** Returns the row counters to update for a changed value. */
  private selectRows(old: unknown, now: unknown): FoundRows[] {
    if (typeof now === 'boolean') return [now ? this.changes : this.clearings];
    if (!isFilled(this.field, old)) return [];
    if (!isFilled(this.field, now)) return [this.clearings];
    const length = cutAt(old, now);
    const cuts = length === undefined ? [] : [getOrCreate(this.cuts, length, () => new FoundRows())];
    return [this.changes, ...cuts, ...(isDamage(old, now) ? [this.damages] : [])];
  }

  /**
   * Users whose value is replaced by another value. Empty for a boolean column in which every change sets `true`,
   * because an inverted column would have changes in both directions.
   */
  get replaced(): Found {
    return this.isFlag && this.clearings.count === 0 ? NO_ROWS : this.changes;
  }

  /** Rows whose value was cut inside a word to the most frequent length. */
  get cut(): Found {
    return [...this.cuts.values()].sort((a, b) => b.count - a.count)[0] ?? NO_ROWS;
  }

  /** Users who get the most frequent new value. Empty if users did not differ in this column before the plan. */
  get same(): Found {
    return this.olds.areMany ? this.news.most : NO_ROWS;
  }
}

const isDamage = (old: unknown, now: unknown): boolean =>
  typeof old === 'string' && typeof now === 'string' && isGarbled(old, now);

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/**
 * Returns true if the value of a field is not empty. Also returns true for an empty list of roles, so that the guards
 * count the first role of a user as a changed value.
 */
function isFilled(field: string, value: unknown): boolean {
  if (field === 'roles') return true;
  if (value === '' || value === null || value === undefined || value === false) return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}
