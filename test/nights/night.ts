import { keep } from './disaster.js';
import type { Person } from './people.js';
import { type Before, NIGHTLY, type Options, SIZES, type Stage } from './stage.js';

type Count = number | ((size: number) => number);

/** Expected outcomes of a run. The other rows are unchanged. `missing` counts people who are blocked as missing. */
export type Expected = Partial<
  Record<'created' | 'updated' | 'blocked' | 'reactivated' | 'skipped' | 'error' | 'missing', Count>
>;

/** A file of an ordinary night, which passes without an approval. */
export interface Night {
  name: string;
  expected: Expected;
  /** Builds the people of the file from the people of the first file. */
  file: (all: readonly Person[], dataset: string) => readonly Person[];
  /** Writes the file. By default it is plain CSV. */
  form?: (all: readonly Person[]) => string | Uint8Array;
  /** Numbers of people in the source. A size at which the limits stop the file is omitted. */
  sizes: readonly number[];
  options: Options;
  base: (all: readonly Person[]) => readonly Person[];
  before: readonly Before[];
  /** Prepares a service that has no users of the source yet. The file is the first of its data set. */
  empty?: (stage: Stage, all: readonly Person[]) => Promise<void>;
}

/** Builds a night. By default it is a nightly file of ordinary people in every size. */
export const passes = (
  name: string,
  expected: Expected,
  file: Night['file'],
  more: Partial<Night> = {},
): Night => ({ name, expected, file, sizes: SIZES, options: NIGHTLY, base: keep, before: [], ...more });

/** Returns the expected counts for a source of `size` people and a file of `rows` rows. */
export function resolveCounts(expected: Expected, size: number, rows: number): Record<string, number> {
  const numbers = Object.fromEntries(
    Object.entries(expected).map(([name, count]) => [name, typeof count === 'number' ? count : count(size)]),
  );
  const { missing = 0, ...outcomes } = numbers;
  const named = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
  const all: Record<string, number> = { ...outcomes, missing, unchanged: rows - named };
  return Object.fromEntries(Object.entries(all).filter(([, count]) => count > 0));
}
