import { computeLimit, countRows, defineGuard } from './guard.js';
import { losesAccess } from './plan.js';

export const deactivations = defineGuard({
  name: 'deactivations',
  counts: 'users who lose access, by being missing or by Status',
  population: { text: 'the active users in scope', count: ({ scope }) => scope.active },
  /** `cap_rows` and `cap_percent` form a second limit. The lower of the two limits applies. */
  limits: { rows: 5, percent: 10, cap_rows: 200, cap_percent: 2 },
  isSummed: true,
  explains: ['changed_managers', 'role_holders'],
  hint: 'Many users would lose access. The file may contain only part of the data set, or its Status column may be wrong. Compare the number of rows with the source. Approve only if these people have left.',
  start({ scope }, limits) {
    const cap = { rows: limits.cap_rows, percent: limits.cap_percent };
    const limit = Math.min(computeLimit(limits, scope.active), computeLimit(cap, scope.active));
    return countRows((row) => (losesAccess(row) ? { old: 'Active', new: 'Blocked' } : undefined), limit);
  },
});
