import { hash64 } from '../plan/compact-storage.js';
import { type Example, Examples, type Found } from './guard-examples.js';

/** A hash of a text in 53 bits, which a number holds exactly. The same in every plan, so that two plans are alike. */
export function hash53(text: string): number {
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
  /** Of values that occur again: a value of one row only is nobody's example. */
  private readonly examples = new Map<number, Examples>();

  add(value: string, example: () => Example): void {
    const key = hash53(value);
    const count = this.counters.get(key);
    if (count !== undefined) {
      this.counters.set(key, count + 1);
      const examples = this.examples.get(key) ?? new Examples();
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
    return { count: most[1], examples: this.examples.get(most[0])?.list ?? [] };
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

/** Whether there are more than some distinct values; it remembers no more than those. */
export class DistinctValues {
  private readonly known = new Set<number>();

  constructor(private readonly most: number) {}

  add(value: string): void {
    if (!this.isMore) this.known.add(hash53(value));
  }

  get isMore(): boolean {
    return this.known.size > this.most;
  }
}
