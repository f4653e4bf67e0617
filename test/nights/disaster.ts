import type { Person } from './people.js';
import { type Before, NIGHTLY, type Options, SIZES, type Source } from './stage.js';

/** A damaged nightly file, which must not change a user. */
export interface Disaster {
  name: string;
  /**
   * Accepted results, of which at least one must occur: a guard (with its field), `failed` or `failed <code>` for the file,
   * `rows` or `rows <code>` if each row fails by itself.
   */
  stops: readonly string[];
  file: Source;
  /** Numbers of people in the source. A size at which the limits let the file pass is omitted. */
  sizes: readonly number[];
  options: Options;
  base: (all: readonly Person[]) => readonly Person[];
  before: readonly Before[];
}

export const keep = (all: readonly Person[]): readonly Person[] => all;

/** Builds a disaster. By default it is a nightly file of ordinary people in every size. */
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
  base: keep,
  before: [],
  ...more,
});
