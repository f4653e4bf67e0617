import { randomInt } from 'node:crypto';

const FIRST_CAPACITY = 1024;

/**
 * A map from texts to integers (0 means "none") in some 25 bytes an entry, whatever the length of the texts: what lets
 * a file of a million rows be planned in little memory. It keeps a 64-bit hash instead of the text; among a million
 * texts the chance that any two are taken for one is below one in ten million, and the hash is seeded at random, so
 * that nobody can choose them.
 */
export class KeyTable {
  private readonly seed = randomInt(2 ** 31);
  private hashes = new Uint32Array(FIRST_CAPACITY * 2);
  private values = new Int32Array(FIRST_CAPACITY);
  private count = 0;

  get(text: string): number {
    return this.at(this.hash(text));
  }

  /** As `get`, by what `hash` has made of the text. */
  at([high, low]: readonly [number, number]): number {
    return this.values[this.slot(this.values, this.hashes, high, low)] ?? 0;
  }

  set(text: string, value: number): void {
    this.grow();
    const [high, low] = this.hash(text);
    const slot = this.slot(this.values, this.hashes, high, low);
    if (this.values[slot] === 0) this.count++;
    this.values[slot] = value;
    this.hashes[slot * 2] = high;
    this.hashes[slot * 2 + 1] = low;
  }

  /** Sets what is not set yet. @returns the value that stood there, 0 for none. */
  claim(text: string, value: number): number {
    const earlier = this.get(text);
    if (earlier === 0) this.set(text, value);
    return earlier;
  }

  private slot(values: Int32Array, hashes: Uint32Array, high: number, low: number): number {
    const mask = values.length - 1;
    let slot = low & mask;
    while (values[slot] !== 0 && !(hashes[slot * 2] === high && hashes[slot * 2 + 1] === low)) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  private grow(): void {
    if (this.count * 4 < this.values.length * 3) return;
    const values = new Int32Array(this.values.length * 2);
    const hashes = new Uint32Array(this.hashes.length * 2);
    for (const [index, value] of this.values.entries()) {
      if (value === 0) continue;
      const high = this.hashes[index * 2] ?? 0;
      const low = this.hashes[index * 2 + 1] ?? 0;
      const slot = this.slot(values, hashes, high, low);
      values[slot] = value;
      hashes[slot * 2] = high;
      hashes[slot * 2 + 1] = low;
    }
    this.values = values;
    this.hashes = hashes;
  }

  /** What this table keeps of a text. */
  hash(text: string): [number, number] {
    return hash64(text, this.seed);
  }
}

/** Two independent 32-bit halves (the mixing steps of MurmurHash3). */
export function hash64(text: string, seed = 0): [number, number] {
  let high = 0xdeadbeef ^ seed;
  let low = 0x41c6ce57 ^ seed;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    high = Math.imul(high ^ code, 0x9e3779b1);
    low = Math.imul(low ^ code, 0x5f356495);
  }
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35);
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35);
  return [high >>> 0, low >>> 0];
}
