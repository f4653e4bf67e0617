/** Numbers texts 1, 2, 3 … in the order of their first mention. */
export interface TextNumbering {
  /** The number of a text, a new one if it has none. */
  number(text: string): number;
  /** The number of a text, 0 if it has none. */
  find(text: string): number;
}

/** A list of integers that grows as it is set; 0 where nothing has been set. */
export interface Integers {
  readonly length: number;
  at(index: number): number;
  set(index: number, value: number): void;
  push(value: number): void;
}

/** The numbers of changes: their places in a set, or the lines of their rows. */
export interface ChangeNumbers {
  add(change: number): void;
  has(change: number): boolean;
}

/** Where a `SetValidator` keeps its constraints: memory for a few hundred changes, or packed for a million rows. */
export interface NumberStorage {
  texts(): TextNumbering;
  integers(): Integers;
  numbers(): ChangeNumbers;
}

/** Maps and arrays: fast for sets of up to some thousand changes. */
export const IN_MAPS: NumberStorage = {
  texts: () => new MappedTexts(),
  integers: () => new GrowingArray(),
  numbers: () => new Set<number>(),
};

class MappedTexts implements TextNumbering {
  private readonly numbers = new Map<string, number>();

  number(text: string): number {
    const known = this.numbers.get(text);
    if (known !== undefined) return known;
    this.numbers.set(text, this.numbers.size + 1);
    return this.numbers.size;
  }

  find(text: string): number {
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
