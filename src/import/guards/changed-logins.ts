import type { FieldChange } from '../../platform/common/field-changes.js';
import { toLoginKey } from '../../users/model/comparison-keys.js';
import { LOGINS, isReplaced } from './changed-columns.js';
import { USERS_WITH_VALUE, countByField, defineGuard } from './guard.js';

/** Returns the column of a login that another login replaces. A change of case does not count. */
export function listReplacedLogins(change: FieldChange): readonly string[] {
  const { field, old, new: now } = change;
  if (!LOGINS.includes(field) || !isReplaced(change)) return [];
  const isSame = typeof old === 'string' && typeof now === 'string' && toLoginKey(old) === toLoginKey(now);
  return isSame ? [] : [field];
}

export const changedLogins = defineGuard({
  name: 'changed_logins',
  counts: 'users whose username, e-mail address or authname is replaced, without changes of case',
  population: USERS_WITH_VALUE,
  limits: { rows: 3, percent: 10 },
  isSummed: true,
  explains: [],
  hint: 'Many users would have to sign in with another name. The source may have changed how it builds this value. Ask the source before you approve, and tell these users.',
  start: () => countByField(listReplacedLogins),
});
