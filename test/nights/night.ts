import { asTheyAre } from './disaster.js';
import type { Person } from './people.js';
import { type Before, NIGHTLY, type Options, SIZES, type Stage } from './stage.js';

type Count = number | ((size: number) => number);

/** What a run did; whoever is not named is unchanged. `missing` are the people who were blocked because the file lacks them. */
export type Expected = Partial<
  Record<'created' | 'updated' | 'blocked' | 'reactivated' | 'skipped' | 'error' | 'missing', Count>
>;

/** An ordinary night: its file passes without an approval. */
export interface Night {
  name: string;
  expected: Expected;
  /** The people of the file, made of those of the first file. */
  file: (all: readonly Person[], dataset: string) => readonly Person[];
  /** How the file is written. */
  form?: (all: readonly Person[]) => string | Uint8Array;
  /** How many people the source has; a size is left out where the limits park the file. */
  sizes: readonly number[];
  options: Options;
  base: (all: readonly Person[]) => readonly Person[];
  before: readonly Before[];
  /** The service has no user of the source yet; what is done there before the first file. */
  empty?: (stage: Stage, all: readonly Person[]) => Promise<void>;
}

/** A night; without more it comes to a source of plain people in any size. */
export const passes = (
  name: string,
  expected: Expected,
  file: Night['file'],
  more: Partial<Night> = {},
): Night => ({
  name,
  expected,
  file,
  sizes: SIZES,
  options: NIGHTLY,
  base: asTheyAre,
  before: [],
  ...more,
});

/** The expected numbers for a source of that size, with the unchanged rows of a file of that length. */
export function numbersOf(expected: Expected, size: number, rows: number): Record<string, number> {
  const numbers = Object.fromEntries(
    Object.entries(expected).map(([name, count]) => [name, typeof count === 'number' ? count : count(size)]),
  );
  const { missing = 0, ...outcomes } = numbers;
  const named = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
  const all: Record<string, number> = { ...outcomes, missing, unchanged: rows - named };
  return Object.fromEntries(Object.entries(all).filter(([, count]) => count > 0));
}
