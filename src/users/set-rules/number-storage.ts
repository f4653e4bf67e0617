/** Numbers distinct texts from 1, in the order in which they are added. */
export interface TextNumbering {
  /** Returns the number of a text. A new text gets the next number. */
  assignNumber(text: string): number;
  /** Returns the number of a text, or 0 for an unknown text. */
  findNumber(text: string): number;
}

/** A list of integers that grows as needed. Items that were never set are 0. */
export interface Integers {
  readonly length: number;
  at(index: number): number;
  set(index: number, value: number): void;
  push(value: number): void;
}

/** A set of change numbers: positions in a change set, or lines of rows in a file. */
export interface ChangeNumbers {
  add(change: number): void;
  has(change: number): boolean;
}

/**
 * Creates the collections of a `SetValidator`: maps for a few thousand changes, or packed arrays for a million rows.
 */
export interface NumberStorage {
  createTexts(): TextNumbering;
  createIntegers(): Integers;
  createNumbers(): ChangeNumbers;
}

export const MAP_STORAGE: NumberStorage = {
  createTexts: () => new MappedTexts(),
  createIntegers: () => new GrowingArray(),
  createNumbers: () => new Set<number>(),
};

class MappedTexts implements TextNumbering {
  private readonly numbers = new Map<string, number>();

  assignNumber(text: string): number {
    const known = this.numbers.get(text);
    if (known !== undefined) return known;
    this.numbers.set(text, this.numbers.size + 1);
    return this.numbers.size;
  }

  findNumber(text: string): number {
    return this.numbers.get(text) ?? 0;
  }
}

class GrowingArray implements Integers {
  private readonly values: number[] = [];

  get length(): number {
    return this.values.length;
  }

  at(index: number): number {
    return this.values[index] ?? 0;
  }

  set(index: number, value: number): void {
    while (this.values.length < index) this.values.push(0);
    this.values[index] = value;
  }

  push(value: number): void {
    this.values.push(value);
  }
}
