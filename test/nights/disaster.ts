import type { Person } from './people.js';
import { type Before, NIGHTLY, type Options, SIZES, type Source } from './stage.js';

/** A nightly file that must not harm anybody. */
export interface Disaster {
  name: string;
  /**
   * What may stop it, of which at least one must: a guard (with its field), `failed` or `failed <code>` for the file, `rows`
   * or `rows <code>` where each row fails by itself.
   */
  stops: readonly string[];
  file: Source;
  /** How many people the source has; a size is left out where the limits let the file pass. */
  sizes: readonly number[];
  options: Options;
  base: (all: readonly Person[]) => readonly Person[];
  before: readonly Before[];
}

export const asTheyAre = (all: readonly Person[]): readonly Person[] => all;

/** A disaster; without more it comes to a source of plain people in any size, as a nightly file. */
export const stops = (
  name: string,
  by: string | readonly string[],
  file: Source,
  more: Partial<Disaster> = {},
): Disaster => ({
  name,
  stops: typeof by === 'string' ? [by] : by,
  file,
  sizes: SIZES,
  options: NIGHTLY,
  base: asTheyAre,
  before: [],
  ...more,
});
