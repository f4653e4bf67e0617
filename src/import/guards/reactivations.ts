import { computeLimit, countRows, defineGuard } from './guard.js';

/** Blocked users who become active, without users whom the file lacked only for a few days. */
export const reactivations = defineGuard({
  name: 'reactivations',
  limits: { rows: 5, percent: 2 },
  isSummed: true,
  explains: [],
  hint: 'Many blocked users would get access again. The file may be old, or its Status column may be wrong. Approve only if these people have come back.',
  start: ({ scope, users }, limits) =>
    countRows(
      ({ outcome, line }) =>
        outcome === 'reactivated' && !users.returners.has(line)
          ? { old: 'Blocked', new: 'Active' }
          : undefined,
      () => computeLimit(limits, scope.users),
    ),
});
