import { getOrCreate } from '../../platform/common/maps.js';
import { isStringArray } from './changed-columns.js';
import { FoundRows } from './found-rows.js';
import { computeLimit, defineGuard } from './guard.js';

export const roleHolders = defineGuard({
  name: 'role_holders',
  counts: 'users who get or lose a role, for each role, without default roles',
  among: 'the holders of the role',
  limits: { rows: 5, percent: 20 },
  isSummed: true,
  explains: [],
  hint: 'Many users would get or lose this role, which changes what they may do. The Roles column may be wrong, or a word in it may have another meaning now. Check some of these users in the source before you approve.',
  start({ users, defaultRoles, past }, limits) {
    const byField = new Map<string, FoundRows>();
    return {
      add(row, changes) {
        const isNew = row.outcome === 'created';
        const change = (isNew ? row.changes.list : changes).find(({ field }) => field === 'roles');
        if (!change || (isNew && !past.last)) return;
        const old = isStringArray(change.old) ? change.old : [];
        const held = isStringArray(change.new) ? change.new : [];
        const given = held.filter((role) => !old.includes(role) && !defaultRoles.includes(role));
        const taken = old.filter((role) => !held.includes(role));
        const fields = [
          ...given.map((role) => `roles.${role}.given`),
          ...taken.map((role) => `roles.${role}.taken`),
        ];
        for (const field of fields)
          getOrCreate(byField, field, () => new FoundRows()).add(row, { old, new: held });
      },
      finish: () =>
        [...byField].map(([field, found]) => {
          const role = field.slice('roles.'.length, field.lastIndexOf('.'));
          return { field, found, limit: computeLimit(limits, users.holders.get(role) ?? 0) };
        }),
    };
  },
});
