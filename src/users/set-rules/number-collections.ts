import { randomInt } from 'node:crypto';

/** Binary logarithm of the segment length. Segments are small, because the change of one user creates ten lists. */
const SEGMENT_BITS = 8;
const SEGMENT_LENGTH = 1 << SEGMENT_BITS;

/**
 * List of integers that needs four bytes per integer. Growth does not copy values, and unset segments use no memory.
 */
export class IntList {
  private readonly segments: (Int32Array | undefined)[] = [];
  length = 0;

  push(value: number): void {
    this.set(this.length, value);
  }

  at(index: number): number {
    return this.segments[index >> SEGMENT_BITS]?.[index & (SEGMENT_LENGTH - 1)] ?? 0;
  }

  set(index: number, value: number): void {
    const segment = (this.segments[index >> SEGMENT_BITS] ??= new Int32Array(SEGMENT_LENGTH));
    segment[index & (SEGMENT_LENGTH - 1)] = value;
    if (index >= this.length) this.length = index + 1;
  }
}

/** Set of numbers, such as lines of a file, that needs one bit per number. */
export class NumberSet {
  private bits = new Uint32Array(8);

  add(value: number): void {
    const word = value >>> 5;
    if (word >= this.bits.length) {
      const bits = new Uint32Array(Math.max(word + 1, this.bits.length * 2));
      bits.set(this.bits);
      this.bits = bits;
    }
    this.bits[word] = (this.bits[word] ?? 0) | (1 << (value & 31));
  }

  has(value: number): boolean {
    return ((this.bits[value >>> 5] ?? 0) & (1 << (value & 31))) !== 0;
  }
}

/** A set of change numbers: positions in a change set, or lines of rows in a file. */
export type ChangeNumbers = Pick<NumberSet, 'add' | 'has'>;

const FIRST_CAPACITY = 16;

type TextHash = readonly [high: number, low: number];

/**
 * Assigns the numbers 1, 2, 3 … to different texts. Other lists can store data about a text at the index of its number.
 * Stores 64-bit hashes instead of the texts, and needs about 16 bytes per text. For a million texts, the probability of
 * a collision is below one in ten million. A random seed prevents a file from provoking collisions.
 */
export class TextNumbers {
  private readonly seed = randomInt(2 ** 31);
  private readonly high = new IntList();
  private readonly low = new IntList();
  /** Hash table with open addressing. Each slot contains the number of a text, or 0 if the slot is free. */
  private slots = new Int32Array(FIRST_CAPACITY);

  constructor() {
    // Use up the number 0, so that the first text gets the number 1.
    this.append([0, 0]);
  }

  get last(): number {
    return this.high.length - 1;
  }

  /** Returns the number of a text, or 0 if the text is unknown. */
  findNumber(text: string): number {
    return this.slots[this.findSlot(computeHash64(text, this.seed))] ?? 0;
  }

  assignNumber(text: string): number {
    const hash = computeHash64(text, this.seed);
    const slot = this.findSlot(hash);
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

  private findSlot([high, low]: TextHash): number {
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
      this.slots[this.findSlot([this.high.at(number), this.low.at(number)])] = number;
    }
  }
}

/** Counts by text. Each text needs about 20 bytes. */
export class TextCounts {
  private readonly numbers = new TextNumbers();
  private readonly counts = new IntList();

  /** Adds to the count of a text. @returns the number of the text. */
  add(text: string, count = 1): number {
    const number = this.numbers.assignNumber(text);
    this.counts.set(number, this.counts.at(number) + count);
    return number;
  }

  get(text: string): number {
    return this.at(this.numbers.findNumber(text));
  }

  at(number: number): number {
    return this.counts.at(number);
  }
}

/**
 * Returns two independent 32-bit hashes of a text as signed integers, computed with the mixing steps of MurmurHash3.
 */
export function computeHash64(text: string, seed = 0): TextHash {
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
