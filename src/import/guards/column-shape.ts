import { isGarbled } from './garbled-text.js';
import { truncated } from '../../platform/common/text.js';
import { type GuardExample, MAX_EXAMPLES } from '../runs/guard-limits.js';
import { hash64 } from '../plan/packed-numbers.js';

/** A row that a guard has found, by the line of the file; negative for a user that the file lacks. */
export interface Example {
  line: number;
  external_id: string;
  old: unknown;
  new: unknown;
}

/** A number of rows, and some of them. */
export interface Found {
  count: number;
  examples: readonly Example[];
}

export const NO_ROWS: Found = { count: 0, examples: [] };

/** More than are shown, since some of the rows may fail later. */
const KEPT = 2 * MAX_EXAMPLES;
const MAX_VALUE = 200;

/** Counts the rows that a guard has found, and keeps the first of them. */
export class FoundRows implements Found {
  count = 0;
  readonly examples: Example[] = [];

  add(example: () => Example): void {
    this.count++;
    if (this.examples.length < KEPT) this.examples.push(example());
  }

  /** Takes back a row that has failed after all. */
  remove(line: number): void {
    this.count--;
    const at = this.examples.findIndex((example) => example.line === line);
    if (at >= 0) this.examples.splice(at, 1);
  }
}

/** Examples as a run shows them: the first ones, with long values cut. */
export function shown(examples: readonly Example[]): GuardExample[] {
  return examples.slice(0, MAX_EXAMPLES).map(({ line, external_id, old, new: now }) => ({
    line: line > 0 ? line : null,
    external_id: truncated(external_id, 255),
    old: cut(old),
    new: cut(now),
  }));
}

function cut(value: unknown): unknown {
  if (typeof value === 'string') return truncated(value, MAX_VALUE);
  if (value === undefined) return null;
  const text = JSON.stringify(value);
  return text.length <= MAX_VALUE ? value : truncated(text, MAX_VALUE);
}

/** A hash of a text in 53 bits, which a number holds exactly. The same in every plan, so that two plans are alike. */
function hash53(text: string): number {
  const [high, low] = hash64(text);
  return (high >>> 0) * 2 ** 21 + (low >>> 11);
}

/** Values that are counted at a time. */
const COUNTERS = 1024;

/**
 * How often the most frequent of many values occurs, in bounded memory (Misra and Gries, 1982): exact up to 1,024 distinct
 * values, and too low by at most a thousandth of all beyond them.
 */
export class FrequentValues {
  private readonly counters = new Map<number, number>();
  /** Of values that occur again: a value of one row only is no example. */
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

/** A column with more values than this is one in which users differ. */
const FEW_VALUES = 10;

/** Values that users have in a column before the plan: only as many as show that users differ in it. */
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

/** Values that are remembered at a time. */
const MAX_VALUES = 2 ** 15;

interface Moved {
  released: number;
  taken: number;
  /** The first row that takes the value. */
  example: Example | undefined;
}

/**
 * Counts rows that take a value which another row gives up, in bounded memory: exact up to 32,768 values, and beyond them
 * an estimate from those whose hash falls into a share that is halved whenever there is no more room.
 */
export class ExchangedValues {
  private readonly values = new Map<number, Moved>();
  /** Values are remembered where so many bits of their hash are 0. */
  private bits = 0;

  /** @param by -1 for a row that has failed after all. */
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

  /** How many rows take such a value, and some of them. */
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

/** Longer values are not compared: what people are called is shorter. */
const MAX_LENGTH = 255;
/** A letter or digit on both sides: a word was cut, and not the last of several left out. */
const MIDDLE = /^[\p{L}\p{N}]{2}$/u;

/** The new length of a value that became the beginning of what it was. */
function cutAt(old: unknown, now: unknown): number | undefined {
  if (typeof old !== 'string' || typeof now !== 'string') return undefined;
  const { length } = now;
  if (length === 0 || length > MAX_LENGTH || length >= old.length || !old.startsWith(now)) return undefined;
  return MIDDLE.test(`${now.at(-1)}${old.charAt(length)}`) ? length : undefined;
}

/** How a plan changes one column of the users that it matches. Memory does not grow with the rows. */
export class ColumnShape {
  /** Users who get another value; of a column that holds yes or no, those who get a yes. */
  readonly changes = new FoundRows();
  /** Users who lose their value, or their yes. */
  readonly clearings = new FoundRows();
  readonly damages = new FoundRows();
  /** Values that became a beginning of what they were, by their new length. */
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

  /** Takes back what `add` has counted, for a row that has failed after all. */
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

  /** Users whose value is replaced. A first yes replaces nothing, unless others lose theirs: a column may be turned round. */
  get replaced(): Found {
    return this.isFlag && this.clearings.count === 0 ? NO_ROWS : this.changes;
  }

  /** Values that were cut at one length: the most. */
  get cut(): Found {
    return [...this.cuts.values()].sort((a, b) => b.count - a.count)[0] ?? NO_ROWS;
  }

  /** The value that most users get; of a column in which users had more than a few. */
  get same(): Found {
    return this.olds.areMany ? this.news.most : NO_ROWS;
  }
}

const isDamage = (old: unknown, now: unknown): boolean =>
  typeof old === 'string' && typeof now === 'string' && isGarbled(old, now);

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Whether there is a value. Having no role is one: a first role is a right more. */
function isFilled(field: string, value: unknown): boolean {
  if (field === 'roles') return true;
  if (value === '' || value === null || value === undefined || value === false) return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}
