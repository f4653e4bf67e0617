import { isStringArray } from './changed-columns.js';
import { countByField, defineGuard } from './guard.js';

export const roleHolders = defineGuard({
  name: 'role_holders',
  counts: 'users who get or lose a role, for each role, without default roles',
  population: {
    text: 'the holders of the role',
    count: ({ users }, field) => users.holders.get(field.slice('roles.'.length, field.lastIndexOf('.'))) ?? 0,
  },
  limits: { rows: 5, percent: 20 },
  isSummed: true,
  explains: [],
  hint: 'Many users would get or lose this role, which changes what they may do. The Roles column may be wrong, or a word in it may have another meaning now. Check some of these users in the source before you approve.',
  start({ defaultRoles, past }) {
    const counter = countByField(({ field, old, new: now }) => {
      if (field !== 'roles') return [];
      const before = isStringArray(old) ? old : [];
      const held = isStringArray(now) ? now : [];
      const given = held.filter((role) => !before.includes(role) && !defaultRoles.includes(role));
      const taken = before.filter((role) => !held.includes(role));
      return [...given.map((role) => `roles.${role}.given`), ...taken.map((role) => `roles.${role}.taken`)];
    });
    return {
      ...counter,
      add(row, changes) {
        if (row.outcome !== 'created') counter.add(row, changes);
        else if (past.last) counter.add(row, row.changes.list);
      },
    };
  },
});
