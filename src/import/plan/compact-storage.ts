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
 * file of a million rows be planned in little memory. Facts about a text are kept in lists beside it, at its number.
 *
 * A 64-bit hash is kept instead of the text; among a million texts the chance that any two are taken for one is below
 * one in ten million, and the hash is seeded at random, so that nobody can choose them.
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
    return this.slots[this.slot(this.hash(text))] ?? 0;
  }

  /** The number of a text, a new one if it has none: `last` has grown then. */
  number(text: string): number {
    const hash = this.hash(text);
    const slot = this.slot(hash);
    const known = this.slots[slot] ?? 0;
    if (known !== 0) return known;
    this.slots[slot] = this.append(hash);
    const number = this.last;
    if (number * 4 > this.slots.length * 3) this.grow();
    return number;
  }

  private hash(text: string): TextHash {
    return hash64(text, this.seed);
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

/** Changes that are remembered at a time, in 48 bytes each at most. */
const MAX_CHANGES = 2 ** 18;
/** No line of a file, and no missing user. */
const NO_LINE = 0;

/**
 * The changes of a plan by user, field and new value, so that those of an earlier run can be compared with them: exact up
 * to a million changes; beyond them those of a share of the users, which is halved whenever there is no more room.
 */
export class ChangeSet {
  /** Three integers a place: two of a hash, and the line; open addressing. */
  private places = new Int32Array(3 * FIRST_CAPACITY);
  private taken = 0;
  /** Users are remembered whose hash has so many bits that are 0. */
  private bits = 0;

  /** @param line of the row; negative for a user that the file lacks. */
  add(user: string, field: string, value: unknown, line: number): void {
    this.put(keyOf(user, field, value), line);
  }

  get isEmpty(): boolean {
    return this.taken === 0;
  }

  /** For a row that has failed after all. */
  remove(user: string, field: string, value: unknown): void {
    const key = keyOf(user, field, value);
    if (!this.isKept(key)) return;
    const place = this.place(key);
    if (this.isTaken(place)) this.places[place + 2] = NO_LINE;
  }

  /** The line of the row that gives the user this value; undefined where none does. */
  lineOf(user: string, field: string, value: unknown): number | undefined {
    const key = keyOf(user, field, value);
    if (!this.isKept(key)) return undefined;
    const line = this.places[this.place(key) + 2] ?? NO_LINE;
    return line === NO_LINE ? undefined : line;
  }

  /** Whether the changes of a user are remembered. */
  remembers(user: string): boolean {
    return this.isKept([hash64(user)[0], 0]);
  }

  private put(key: Key, line: number): void {
    if (!this.isKept(key)) return;
    const place = this.place(key);
    if (!this.isTaken(place)) this.taken++;
    this.places.set([key[0], key[1], line], place);
    if (this.taken > MAX_CHANGES) this.bits++;
    if (this.taken > MAX_CHANGES) this.rebuild(this.places.length);
    else if (this.taken * 6 > this.places.length) this.rebuild(2 * this.places.length);
  }

  /** The place of a key, or the free one that it would take. */
  private place([high, low]: Key): number {
    const capacity = this.places.length / 3;
    let place = 3 * ((low >>> 0) % capacity);
    while (this.isTaken(place) && !(this.places[place] === high && this.places[place + 1] === low))
      place = (place + 3) % this.places.length;
    return place;
  }

  private isTaken(place: number): boolean {
    return this.places[place] !== 0 || this.places[place + 1] !== 0;
  }

  private isKept([high]: Key): boolean {
    return (high >>> 0) % 2 ** this.bits === 0;
  }

  private rebuild(length: number): void {
    const old = this.places;
    this.places = new Int32Array(length);
    this.taken = 0;
    for (let at = 0; at < old.length; at += 3) {
      const key: Key = [old[at] ?? 0, old[at + 1] ?? 0];
      if ((key[0] !== 0 || key[1] !== 0) && this.isKept(key)) this.put(key, old[at + 2] ?? NO_LINE);
    }
  }
}

type Key = readonly [user: number, change: number];

/** `user` alone decides whether the key is remembered. */
function keyOf(user: string, field: string, value: unknown): Key {
  const [change] = hash64(`${user} ${field} ${JSON.stringify(value ?? null)}`);
  return [hash64(user)[0], change];
}
