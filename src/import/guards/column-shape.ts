import { isGarbled } from './garbled-text.js';
import { truncate } from '../../platform/common/text.js';
import { type GuardExample, MAX_EXAMPLES } from '../runs/guard-limits.js';
import { computeHash64 } from '../plan/compact-collections.js';

/** A row that a guard has found. The line is negative for a missing user. */
export interface Example {
  line: number;
  external_id: string;
  old: unknown;
  new: unknown;
}

/** Number of rows that a guard has found, with some of these rows as examples. */
export interface Found {
  count: number;
  examples: readonly Example[];
}

export const NO_ROWS: Found = { count: 0, examples: [] };

/**
 * Maximum number of stored examples. It is higher than the number that is shown, because some of these rows may fail
 * later.
 */
const KEPT = 2 * MAX_EXAMPLES;
const MAX_VALUE = 200;

/** Counts the rows that a guard finds, and stores the first of these rows as examples. */
export class FoundRows implements Found {
  count = 0;
  readonly examples: Example[] = [];

  add(example: () => Example): void {
    this.count++;
    if (this.examples.length < KEPT) this.examples.push(example());
  }

  /** Removes a row that has failed since it was added. */
  remove(line: number): void {
    this.count--;
    const at = this.examples.findIndex((example) => example.line === line);
    if (at >= 0) this.examples.splice(at, 1);
  }
}

/** Returns the examples that a run shows, with long values truncated. */
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

/** Returns a 53-bit hash of a text, which a number holds exactly. The hash is the same in every plan. */
function hash53(text: string): number {
  const [high, low] = computeHash64(text);
  return (high >>> 0) * 2 ** 21 + (low >>> 11);
}

/** Maximum number of values that are counted at the same time. */
const COUNTERS = 1024;

/**
 * Counts the most frequent value in bounded memory (Misra and Gries, 1982). The count is exact up to 1,024 distinct
 * values. With more values it is too low by at most a thousandth of all values.
 */
export class FrequentValues {
  private readonly counters = new Map<number, number>();
  /** Maps the hash of a value to example rows. The first row with a value is not stored. */
  private readonly examples = new Map<number, FoundRows>();

  add(value: string, example: () => Example): void {
    const key = hash53(value);
    const count = this.counters.get(key);
    if (count !== undefined) {
      this.counters.set(key, count + 1);
      const examples = this.examples.get(key) ?? new FoundRows();
      this.examples.set(key, examples);
      examples.add(example);
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

/** Number of distinct values above which users are considered to differ in a column. */
const FEW_VALUES = 10;

/**
 * Values that users have in a column before the plan. Once the stored values prove that users differ, no more values
 * are stored.
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

/** Maximum number of stored values. */
const MAX_VALUES = 2 ** 15;

interface Moved {
  released: number;
  taken: number;
  /** The first row that takes the value. */
  example: Example | undefined;
}

/**
 * Counts rows that take a value from another row, in bounded memory. The count is exact up to 32,768 values. With more
 * values it is an estimate from a sample, which is halved whenever it is full.
 */
export class ExchangedValues {
  private readonly values = new Map<number, Moved>();
  /** Number of low bits that must be 0 in the hash of a sampled value. */
  private bits = 0;

  /** Records that a row gives up a value. @param by 1, or -1 to undo the call for a row that has failed since. */
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

  /** Number of rows that take a value from another row, with some of these rows as examples. */
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

/** Maximum length of a compared value, in characters. Names are shorter. */
const MAX_LENGTH = 255;
/** Matches the two characters around a cut if both are letters or digits. The cut is then inside a word. */
const MIDDLE = /^[\p{L}\p{N}]{2}$/u;

/** Returns the new length of a value that was cut inside a word, or undefined. */
function cutAt(old: unknown, now: unknown): number | undefined {
  if (typeof old !== 'string' || typeof now !== 'string') return undefined;
  const { length } = now;
  if (length === 0 || length > MAX_LENGTH || length >= old.length || !old.startsWith(now)) return undefined;
  return MIDDLE.test(`${now.at(-1)}${old.charAt(length)}`) ? length : undefined;
}

/** Summary of how a plan changes one column of the matched users. Its size does not depend on the number of rows. */
export class ColumnShape {
  /** Users whose value is replaced. In a column of booleans, users who get `true`. */
  readonly changes = new FoundRows();
  /** Users who lose their value or their `true`. */
  readonly clearings = new FoundRows();
  readonly damages = new FoundRows();
  /** Maps a length to the rows whose value was cut to this length inside a word. */
  private readonly cuts = new Map<number, FoundRows>();
  private readonly news = new FrequentValues();
  private isFlag = false;

  constructor(
    readonly field: string,
    private readonly olds: OldValues,
  ) {}

  add(old: unknown, now: unknown, row: { line: number; external_id: string }): void {
    const example = (): Example => ({ ...row, old, new: now });
    if (typeof now === 'boolean') {
      this.isFlag = true;
      (now ? this.changes : this.clearings).add(example);
      return;
    }
    const [had, has] = [isFilled(this.field, old), isFilled(this.field, now)];
    if (had && has) {
      this.changes.add(example);
      const length = cutAt(old, now);
      if (length !== undefined) {
        const cut = this.cuts.get(length) ?? new FoundRows();
        this.cuts.set(length, cut);
        cut.add(example);
      }
      if (isDamage(old, now)) this.damages.add(example);
    } else if (had) this.clearings.add(example);
    this.olds.add(old);
    if (has) this.news.add(textOf(now), example);
  }

  /** Undoes `add` for a row that has failed since. */
  remove(old: unknown, now: unknown, line: number): void {
    if (typeof now === 'boolean') {
      (now ? this.changes : this.clearings).remove(line);
      return;
    }
    const [had, has] = [isFilled(this.field, old), isFilled(this.field, now)];
    if (had && has) {
      this.changes.remove(line);
      this.cuts.get(cutAt(old, now) ?? -1)?.remove(line);
      if (isDamage(old, now)) this.damages.remove(line);
    } else if (had) this.clearings.remove(line);
    if (has) this.news.remove(textOf(now), line);
  }

  /**
   * Users whose value is replaced. A new `true` counts only if other users lose their `true`, because the column may
   * have been inverted.
   */
  get replaced(): Found {
    return this.isFlag && this.clearings.count === 0 ? NO_ROWS : this.changes;
  }

  /** Values that were cut at the most frequent length. */
  get cut(): Found {
    return [...this.cuts.values()].sort((a, b) => b.count - a.count)[0] ?? NO_ROWS;
  }

  /** Users who get the most frequent new value, if the column had more than a few values before. */
  get same(): Found {
    return this.olds.areMany ? this.news.most : NO_ROWS;
  }
}

const isDamage = (old: unknown, now: unknown): boolean =>
  typeof old === 'string' && typeof now === 'string' && isGarbled(old, now);

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Returns true if a field has a value. An empty list of roles is a value, because a first role adds permissions. */
function isFilled(field: string, value: unknown): boolean {
  if (field === 'roles') return true;
  if (value === '' || value === null || value === undefined || value === false) return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}
