import { hash64 } from './compact-storage.js';
import { Examples, type Example } from './guard-examples.js';

/** A hash of a text in 53 bits, which a number holds exactly. The same in every plan, so that two plans are alike. */
export function hash53(text: string): number {
  const [high, low] = hash64(text);
  return (high >>> 0) * 2 ** 21 + (low >>> 11);
}

/** Values that are counted at a time. */
const COUNTERS = 1024;

interface Counter {
  count: number;
  examples: Examples;
}

/**
 * How often the most frequent of many values occurs, in bounded memory (Misra and Gries, 1982): exact up to 1,024 distinct
 * values, and too low by at most a thousandth of all beyond them.
 */
export class FrequentValues {
  private readonly counters = new Map<number, Counter>();

  add(value: string, example: () => Example): void {
    const key = hash53(value);
    const counter = this.counters.get(key);
    if (counter) {
      counter.count++;
      counter.examples.add(example);
    } else if (this.counters.size < COUNTERS) {
      const examples = new Examples();
      examples.add(example);
      this.counters.set(key, { count: 1, examples });
    } else {
      for (const [other, { count }] of this.counters) {
        if (count === 1) this.counters.delete(other);
      }
      for (const left of this.counters.values()) left.count--;
    }
  }

  remove(value: string, line: number): void {
    const counter = this.counters.get(hash53(value));
    if (!counter) return;
    counter.count--;
    counter.examples.remove(line);
  }

  get most(): Counter {
    let most: Counter = { count: 0, examples: new Examples() };
    for (const counter of this.counters.values()) if (counter.count > most.count) most = counter;
    return most;
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
