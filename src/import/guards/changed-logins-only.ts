import { listReplacedLogins } from './changed-logins.js';
import { USERS_WITH_VALUE, countByField, defineGuard } from './guard.js';

export const changedLoginsOnly = defineGuard({
  name: 'changed_logins_only',
  counts: 'users with a new login but unchanged names',
  population: USERS_WITH_VALUE,
  limits: { rows: 5, percent: 2 },
  explains: ['changed_logins'],
  hint: 'Many users would get another login although their names stay. The column may be shifted, sorted separately or built in another way. Compare some rows with the source before you approve.',
  start: () =>
    countByField((change, changes) =>
      changes.some(({ field }) => field === 'firstname' || field === 'surname')
        ? []
        : listReplacedLogins(change),
    ),
});
