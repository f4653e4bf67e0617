import { MATCHED_ROWS, computeLimit, defineGuard } from './guard.js';

export const foreignDataset = defineGuard({
  name: 'foreign_dataset',
  counts:
    'users of another data set or part. A part that is imported for the first time takes no user of another part',
  population: { ...MATCHED_ROWS, text: 'the matched users' },
  limits: { rows: 5, percent: 10 },
  explains: 'all',
  hint: 'Many users in the file belong to another data set or part. If the data set or part is wrong, import the file again with the right one. If two sources use the same external IDs, add a prefix to ExternalId in the profile.',
  start: ({ users, past }, limits) => ({
    finish() {
      const usual = computeLimit(limits, users.count);
      if (!past.last && users.fromOtherPart.count > 0) return [{ found: users.fromOtherPart, limit: 0 }];
      // If the last run was over the limit, an operator has approved its users. Only additional users count.
      const known = past.last?.guards.find(({ name }) => name === 'foreign_dataset')?.value ?? 0;
      return [{ found: users.foreign, limit: known > usual ? known + usual : usual }];
    },
  }),
});
