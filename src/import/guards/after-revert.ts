import { FoundRows } from './found-rows.js';
import { defineGuard } from './guard.js';
import { PlannedChanges, findChangesBack } from './planned-changes.js';

export const afterRevert = defineGuard({
  name: 'after_revert',
  counts: 'users who would get a value again that a revert removed',
  population: { text: '', count: () => 0 },
  limits: { rows: 0 },
  explains: 'all',
  hint: 'Changes that were reverted would be made again. The source still sends the wrong values. Correct the source. Approve only if the values are right now.',
  start(plan) {
    const { reverts } = plan.past;
    const planned = new PlannedChanges();
    return {
      add(row) {
        if (reverts.length > 0) planned.addRow(row);
      },
      async finish() {
        const found = new FoundRows();
        for (const revert of planned.size > 0 ? reverts : [])
          for await (const row of plan.readAppliedRows(revert)) {
            const [back] = findChangesBack(row, planned);
            if (back) found.add({ ...row, line: back.line }, { old: back.new, new: back.old });
          }
        return [{ found }];
      },
    };
  },
});
