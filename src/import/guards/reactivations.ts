import { SCOPE, countRows, defineGuard } from './guard.js';

export const reactivations = defineGuard({
  name: 'reactivations',
  counts: 'blocked users who become active, except users who were missing within the last 14 days',
  population: SCOPE,
  limits: { rows: 5, percent: 2 },
  isSummed: true,
  explains: [],
  hint: 'Many blocked users would get access again. The file may be old, or its Status column may be wrong. Approve only if these people have come back.',
  start: ({ users }) =>
    countRows(({ outcome, line }) =>
      outcome === 'reactivated' && !users.returners.has(line) ? { old: 'Blocked', new: 'Active' } : undefined,
    ),
});
