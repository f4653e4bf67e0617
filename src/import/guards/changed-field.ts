import { GUARDED_ELSEWHERE, LOGINS, isReplaced } from './changed-columns.js';
import { USERS_WITH_VALUE, countByField, defineGuard } from './guard.js';

const SKIPPED: ReadonlySet<string> = new Set([...LOGINS, ...GUARDED_ELSEWHERE, 'manager_uuid']);

export const changedField = defineGuard({
  name: 'changed_field',
  counts:
    'users whose value is replaced, for each column. A yes/no column counts users whose value is switched on or off',
  population: {
    text: `${USERS_WITH_VALUE.text}, or whose value was off or on`,
    count(plan, name) {
      const field = name.replace(/\.(on|off)$/, '');
      if (name === field) return USERS_WITH_VALUE.count(plan, field);
      const on = plan.users.columns.get(field)?.on ?? 0;
      return name.endsWith('.on') ? plan.users.count - on : on;
    },
  },
  limits: { rows: 5, percent: 20 },
  isSummed: true,
  explains: [],
  hint: 'Many users would get another value in this column. The source may have filled in a default value or exchanged two columns. Compare some rows with the source before you approve.',
  start: () =>
    countByField((change) => {
      if (SKIPPED.has(change.field)) return [];
      if (typeof change.new === 'boolean') return [`${change.field}.${change.new ? 'on' : 'off'}`];
      return isReplaced(change) ? [change.field] : [];
    }),
});
