import { NumberSet } from '../../users/set-rules/number-collections.js';
import { FoundRows } from './found-rows.js';
import { findCommonality } from './commonality.js';
import { computeLimit, defineGuard } from './guard.js';
import { UserSample } from './user-sample.js';
import { losesAccess } from './plan.js';
import type { ManagedUser } from '../../users/search/user-directory.service.js';

export const lostTogether = defineGuard({
  name: 'lost_together',
  counts: 'users who lose access and stand together in the sorted file, share a value, or are whole groups',
  among: 'the scope',
  limits: { rows: 10, percent: 2 },
  explains: ['deactivations', 'changed_managers', 'role_holders', 'errors'],
  hint: 'The file probably lacks a part of the source, such as one site, one team or its last pages. Compare the number of rows with the source, and export it again. Approve only if all these people have left.',
  start({ scope, readScope }, limits) {
    const found = new FoundRows();
    const lost = new UserSample(scope.active);
    return {
      add(row) {
        if (!losesAccess(row) || row.user_uuid === null) return;
        found.add(row, { old: 'Active', new: 'Blocked' });
        lost.add(row.user_uuid);
      },
      async finish() {
        const limit = computeLimit(limits, scope.users);
        if (found.count <= limit) return [{ found: new FoundRows(), limit }];
        const users: ManagedUser[] = [];
        const isLost = new NumberSet();
        for await (const page of readScope())
          for (const user of page) {
            if (!lost.isSampled(user.uuid)) continue;
            if (lost.has(user.uuid)) isLost.add(users.length);
            users.push(user);
          }
        const common = findCommonality(users, (index) => isLost.has(index));
        if (common === undefined) return [{ found: new FoundRows(), limit }];
        return [{ found, limit, detail: `${found.count} users: ${common}.` }];
      },
    };
  },
});
