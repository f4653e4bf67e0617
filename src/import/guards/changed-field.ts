import { GUARDED_ELSEWHERE, LOGINS, isReplaced } from './changed-columns.js';
import { computeLimit, countByField, defineGuard } from './guard.js';

const SKIPPED: ReadonlySet<string> = new Set([...LOGINS, ...GUARDED_ELSEWHERE, 'manager_uuid']);

export const changedField = defineGuard({
  name: 'changed_field',
  counts:
    'users whose value is replaced, for each column. A yes/no column counts users whose value is switched on or off',
  among: 'the users who had a value, or whose value was off or on',
  limits: { rows: 5, percent: 20 },
  isSummed: true,
  explains: [],
  hint: 'Many users would get another value in this column. The source may have filled in a default value or exchanged two columns. Compare some rows with the source before you approve.',
  start: ({ users }, limits) =>
    countByField(
      (change) => {
        if (SKIPPED.has(change.field)) return [];
        if (typeof change.new === 'boolean') return [`${change.field}.${change.new ? 'on' : 'off'}`];
        return isReplaced(change) ? [change.field] : [];
      },
      (name) => {
        const field = name.replace(/\.(on|off)$/, '');
        const column = users.columns.get(field);
        if (name === field) return computeLimit(limits, column?.filled ?? 0);
        return computeLimit(
          limits,
          name.endsWith('.on') ? users.count - (column?.on ?? 0) : (column?.on ?? 0),
        );
      },
    ),
});
