import { listReplacedLogins } from './changed-logins.js';
import { computeLimit, countByField, defineGuard } from './guard.js';

export const changedLoginsOnly = defineGuard({
  name: 'changed_logins_only',
  counts: 'users with a new login but unchanged names',
  among: 'the users who had a value',
  limits: { rows: 5, percent: 2 },
  explains: ['changed_logins'],
  hint: 'Many users would get another login although their names stay. The column may be shifted, sorted separately or built in another way. Compare some rows with the source before you approve.',
  start: ({ users }, limits) =>
    countByField(
      (change, _, changes) =>
        changes.some(({ field }) => field === 'firstname' || field === 'surname')
          ? []
          : listReplacedLogins(change),
      (field) => computeLimit(limits, users.columns.get(field)?.filled ?? 0),
    ),
});
