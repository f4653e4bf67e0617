import { randomInt } from 'node:crypto';
import type {
  ChangeNumbers,
  NumberStorage,
  Integers,
  TextNumbering,
} from '../../users/set-rules/number-storage.js';

/** Claims of a file of a million rows, in some hundred bytes a row. */
export const COMPACT: NumberStorage = {
  texts: () => new TextNumbers(),
  integers: () => new IntList(),
  numbers: () => new LineSet(),
};

const SEGMENT_BITS = 14;
const SEGMENT = 1 << SEGMENT_BITS;

/** A growing list of integers in four bytes each. It grows by segments: nothing is copied, and what is not set takes nothing. */
export class IntList implements Integers {
  private readonly segments: (Int32Array | undefined)[] = [];
  length = 0;

  push(value: number): void {
    this.set(this.length, value);
  }

  at(index: number): number {
    return this.segments[index >> SEGMENT_BITS]?.[index & (SEGMENT - 1)] ?? 0;
  }

  set(index: number, value: number): void {
    const segment = (this.segments[index >> SEGMENT_BITS] ??= new Int32Array(SEGMENT));
    segment[index & (SEGMENT - 1)] = value;
    if (index >= this.length) this.length = index + 1;
  }
}

/** A set of line numbers in a bit each. */
export class LineSet implements ChangeNumbers {
  private bits = new Uint32Array(1024);

  add(line: number): void {
    const word = line >>> 5;
    if (word >= this.bits.length) {
      const bits = new Uint32Array(Math.max(word + 1, this.bits.length * 2));
      bits.set(this.bits);
      this.bits = bits;
    }
    this.bits[word] = (this.bits[word] ?? 0) | (1 << (line & 31));
  }

  has(line: number): boolean {
    return ((this.bits[line >>> 5] ?? 0) & (1 << (line & 31))) !== 0;
  }
}

const FIRST_CAPACITY = 1024;

/** What is kept of a text. */
type TextHash = readonly [high: number, low: number];

/**
 * Numbers texts 1, 2, 3 … in the order of their first mention, in some 16 bytes a text, whatever its length. This lets a
 * file of a million rows be planned in little memory. Facts about a text are kept in lists of their own, at its number.
 *
 * A 64-bit hash is kept instead of the text; among a million texts the chance that any two are taken for one is below
 * one in ten million, and the hash is seeded at random, so that a file cannot provoke collisions.
 */
export class TextNumbers implements TextNumbering {
  private readonly seed = randomInt(2 ** 31);
  private readonly high = new IntList();
  private readonly low = new IntList();
  /** Open addressing: the numbers of the texts, 0 for none. */
  private slots = new Int32Array(FIRST_CAPACITY);

  constructor() {
    this.append([0, 0]); // so that the first text has the number 1
  }

  /** The highest number so far. */
  get last(): number {
    return this.high.length - 1;
  }

  /** The number of a text, 0 if it has none. */
  find(text: string): number {
    return this.slots[this.slot(hash64(text, this.seed))] ?? 0;
  }

  /** The number of a text, a new one if it has none: `last` has grown then. */
  number(text: string): number {
    const hash = hash64(text, this.seed);
    const slot = this.slot(hash);
    const known = this.slots[slot] ?? 0;
    if (known !== 0) return known;
    const number = this.append(hash);
    this.slots[slot] = number;
    if (number * 4 > this.slots.length * 3) this.grow();
    return number;
  }

  private append([high, low]: TextHash): number {
    this.high.push(high);
    this.low.push(low);
    return this.last;
  }

  /** The slot of the text, or the free one that it would take. */
  private slot([high, low]: TextHash): number {
    const mask = this.slots.length - 1;
    let slot = low & mask;
    for (let number = this.slots[slot]; number; number = this.slots[slot]) {
      if (this.high.at(number) === high && this.low.at(number) === low) break;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  private grow(): void {
    this.slots = new Int32Array(this.slots.length * 2);
    for (let number = 1; number <= this.last; number++) {
      this.slots[this.slot([this.high.at(number), this.low.at(number)])] = number;
    }
  }
}

/** Two independent 32-bit halves (the mixing steps of MurmurHash3), as signed integers. */
export function hash64(text: string, seed = 0): TextHash {
  let high = 0xdeadbeef ^ seed;
  let low = 0x41c6ce57 ^ seed;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    high = Math.imul(high ^ code, 0x9e3779b1);
    low = Math.imul(low ^ code, 0x5f356495);
  }
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35);
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35);
  return [high | 0, low | 0];
}

/** Changes that are remembered at a time, in some 48 bytes each. */
const MAX_CHANGES = 2 ** 18;
/** Bits of a key that tell the changes of one user apart: 53 bits are exact in a number. */
const CHANGE_BITS = 21;

/**
 * The changes of a plan by user, field and new value, so that those of an earlier run can be compared with them: all of them up
 * to 262,144 changes, and beyond them those of a share of the users, which is halved whenever there is no more room.
 */
export class ChangeSet {
  /** Hash of the user and of the change → line of the row. */
  private readonly lines = new Map<number, number>();
  /** Users are remembered whose hash has so many bits that are 0. */
  private bits = 0;

  get isEmpty(): boolean {
    return this.lines.size === 0;
  }

  /** @param line of the row; negative for a user that the file lacks. */
  add(user: string, field: string, value: unknown, line: number): void {
    if (this.remembers(user)) this.lines.set(keyOf(user, field, value), line);
    while (this.lines.size > MAX_CHANGES) {
      this.bits++;
      for (const key of this.lines.keys())
        if (!this.isKept(Math.floor(key / 2 ** CHANGE_BITS))) this.lines.delete(key);
    }
  }

  /** For a row that has failed after all. */
  remove(user: string, field: string, value: unknown): void {
    this.lines.delete(keyOf(user, field, value));
  }

  /** The line of the row that gives the user this value; undefined where none does. */
  lineOf(user: string, field: string, value: unknown): number | undefined {
    return this.lines.get(keyOf(user, field, value));
  }

  /** Whether the changes of a user are remembered. */
  remembers(user: string): boolean {
    return this.isKept(hash64(user)[0] >>> 0);
  }

  private isKept(userHash: number): boolean {
    return userHash % 2 ** this.bits === 0;
  }
}

function keyOf(user: string, field: string, value: unknown): number {
  const [change] = hash64(`${user} ${field} ${JSON.stringify(value ?? null)}`);
  return (hash64(user)[0] >>> 0) * 2 ** CHANGE_BITS + (change >>> (32 - CHANGE_BITS));
}
