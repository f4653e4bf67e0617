import { SCOPE, countRows, defineGuard } from './guard.js';

export const created = defineGuard({
  name: 'created',
  counts: 'new users of this run and the unapproved runs of 30 days, except in the first file',
  population: SCOPE,
  /** The limit covers all runs of 30 days. */
  limits: { rows: 20, percent: 15 },
  explains: [],
  hint: 'Many users would be created. The external ids of known people may have changed, or the file may list people who need no account. Check some of them in the source before you approve.',
  start: ({ past }) =>
    countRows(({ outcome, changes }) =>
      outcome === 'created' && !past.isFirst ? { old: null, new: changes.values['username'] } : undefined,
    ),
});
