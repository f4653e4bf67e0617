import type { Example, Found } from './guard-examples.js';
import { hash53 } from './value-counts.js';

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
