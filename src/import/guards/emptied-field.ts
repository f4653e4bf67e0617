import { GUARDED_ELSEWHERE, isFilled } from './changed-columns.js';
import { computeLimit, countByField, defineGuard } from './guard.js';

export const emptiedField = defineGuard({
  name: 'emptied_field',
  counts: 'users whose value is emptied, for each column',
  among: 'the users who had a value',
  limits: { rows: 5, percent: 10 },
  isSummed: true,
  explains: [],
  hint: 'Many users would lose their value in this column. The source has probably stopped sending it. Ask the source, or import with blank_cells=keep.',
  start: ({ users }, limits) =>
    countByField(
      ({ field, old, new: now }) =>
        !GUARDED_ELSEWHERE.has(field) && typeof now !== 'boolean' && isFilled(old) && !isFilled(now)
          ? [field]
          : [],
      (field) => computeLimit(limits, users.columns.get(field)?.filled ?? 0),
    ),
});
