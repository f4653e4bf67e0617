import { type Example, Examples, type Found } from './guard-examples.js';

/** Longer values are not compared: what people are called is shorter. */
const MAX_LENGTH = 255;
/** A letter or digit on both sides: a word was cut, and not the last of several left out. */
const MIDDLE = /^[\p{L}\p{N}]{2}$/u;

/** Values of a column that became a beginning of what they were, by their new length: at most one count for each length. */
export class CutValues {
  private readonly byLength = new Map<number, { count: number; examples: Examples }>();

  add(old: unknown, now: unknown, example: () => Example): void {
    const length = cutAt(old, now);
    if (length === undefined) return;
    const found = this.byLength.get(length) ?? { count: 0, examples: new Examples() };
    this.byLength.set(length, found);
    found.count++;
    found.examples.add(example);
  }

  remove(old: unknown, now: unknown, line: number): void {
    const found = this.byLength.get(cutAt(old, now) ?? -1);
    if (!found) return;
    found.count--;
    found.examples.remove(line);
  }

  /** Those of the length that most have. */
  get most(): Found {
    const [most] = [...this.byLength.values()].sort((a, b) => b.count - a.count);
    return most ? { count: most.count, examples: most.examples.list } : { count: 0, examples: [] };
  }
}

function cutAt(old: unknown, now: unknown): number | undefined {
  if (typeof old !== 'string' || typeof now !== 'string') return undefined;
  const { length } = now;
  if (length === 0 || length > MAX_LENGTH || length >= old.length || !old.startsWith(now)) return undefined;
  return MIDDLE.test(`${now.at(-1)}${old.charAt(length)}`) ? length : undefined;
}
