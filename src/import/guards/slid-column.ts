import { getOrCreate } from '../../platform/common/maps.js';
import { toText } from './changed-columns.js';
import { FoundRows } from './found-rows.js';
import { MATCHED_ROWS, defineGuard } from './guard.js';

/** Values that at least this share of the matched users had in the column do not count. */
const COMMON_SHARE = 0.2;
/** At least this share of the rows must get the value of the row before, or of the row after. */
const SLID_SHARE = 0.8;

class Slide {
  readonly found = new FoundRows();
  fromRowBefore = 0;
  fromRowAfter = 0;
  firstValue: string | undefined;
  hasTwoValues = false;
}

export const slidColumn = defineGuard({
  name: 'slid_column',
  counts: 'rows that get the value of the row before or after them, for each column',
  population: MATCHED_ROWS,
  limits: { rows: 5, percent: 0.5 },
  explains: [
    ...[
      'other_person',
      'changed_form',
      'changed_logins_only',
      'changed_logins',
      'changed_managers',
      'changed_field',
    ],
    ...['emptied_field', 'role_holders', 'exchanged_values'],
  ],
  hint: 'The values of this column moved by one row, so each user would get the value of a neighbour. Sort the source with all its columns, and export it again.',
  start({ users }) {
    const slides = new Map<string, Slide>();
    return {
      add(row, changes) {
        for (const change of changes) {
          const column = users.columns.get(change.field);
          const value = toText(change.new);
          if (!column || column.values.getShare(value) >= COMMON_SHARE) continue;
          const slide = getOrCreate(slides, change.field, () => new Slide());
          slide.found.add(row, change);
          slide.hasTwoValues ||= slide.firstValue !== undefined && slide.firstValue !== value;
          slide.firstValue ??= value;
          if (column.fromRowBefore.has(row.line)) slide.fromRowBefore++;
          if (column.fromRowAfter.has(row.line)) slide.fromRowAfter++;
        }
      },
      finish: () =>
        [...slides].flatMap(([field, { found, fromRowBefore, fromRowAfter, hasTwoValues }]) => {
          const isSlid = Math.max(fromRowBefore, fromRowAfter) >= SLID_SHARE * found.count;
          return isSlid && hasTwoValues ? [{ field, found }] : [];
        }),
    };
  },
});
