import { GUARDED_ELSEWHERE, LOGINS, isReplaced } from './changed-columns.js';
import { computeLimit, countByField, defineGuard } from './guard.js';

const SKIPPED: ReadonlySet<string> = new Set([...LOGINS, ...GUARDED_ELSEWHERE, 'manager_uuid']);

/** Values that another value replaces, by column, and booleans that are switched on or off. */
export const changedField = defineGuard({
  name: 'changed_field',
  limits: { rows: 5, percent: 20 },
  isSummed: true,
  explains: [],
  hint: 'Many users would get another value in this column. The source may have filled in a default value or exchanged this column with another one. Compare some rows with the source before you approve.',
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
