import { getOrCreate } from '../../platform/common/maps.js';
import { computeHash64 } from '../../users/set-rules/number-collections.js';
import { toText } from './changed-columns.js';
import { FoundRows } from './found-rows.js';
import { MATCHED_ROWS, defineGuard } from './guard.js';

/** At least this share of the new values must be old values of the same rows. */
const SHUFFLED_SHARE = 0.8;
/** At least this share of the values must differ. Teams that exchange their managers have few different values. */
const DIFFERENT_SHARE = 0.25;
/** Maximum number of rows whose values are compared. In a file with more rows, a sample of the values is compared. */
const MAX_ROWS = 2 ** 16;

/** Old and new values of the changed rows in a column. */
class Shuffle {
  readonly found = new FoundRows();
  /** Maps the hash of a value to the number of rows that get it, less the number of rows that lose it. */
  private readonly balances = new Map<number, number>();
  private total = 0;

  constructor(private readonly divisor: number) {}

  add(value: string, step: 1 | -1): void {
    const hash = computeHash64(value)[0] >>> 0;
    if (hash % this.divisor !== 0) return;
    this.total++;
    this.balances.set(hash, (this.balances.get(hash) ?? 0) + step);
  }

  get isShuffled(): boolean {
    let unmatched = 0;
    for (const balance of this.balances.values()) unmatched += Math.abs(balance);
    return (
      unmatched <= (1 - SHUFFLED_SHARE) * this.total &&
      this.balances.size >= DIFFERENT_SHARE * (this.total / 2)
    );
  }
}

export const shuffledColumn = defineGuard({
  name: 'shuffled_column',
  counts: 'rows that exchange different values with each other, for each column',
  population: MATCHED_ROWS,
  limits: { rows: 8, percent: 1 },
  explains: ['changed_logins_only', 'changed_logins', 'changed_managers', 'changed_field', 'garbled_text'],
  hint: 'These users would exchange their values in this column with each other. A part of the source was probably sorted by this column alone. Sort the source with all its columns, and export it again.',
  start({ rows }) {
    const columns = new Map<string, Shuffle>();
    const divisor = Math.ceil(Math.max(1, rows) / MAX_ROWS);
    return {
      add(row, changes) {
        for (const { field, old, new: now } of changes) {
          const shuffle = getOrCreate(columns, field, () => new Shuffle(divisor));
          shuffle.found.add(row, { old, new: now });
          shuffle.add(toText(old), -1);
          shuffle.add(toText(now), 1);
        }
      },
      finish: () =>
        [...columns].flatMap(([field, { found, isShuffled }]) => (isShuffled ? [{ field, found }] : [])),
    };
  },
});
