import { FoundRows } from './found-rows.js';
import { defineGuard } from './guard.js';
import { PlannedChanges, findChangeBack } from './planned-changes.js';

export const afterRevert = defineGuard({
  name: 'after_revert',
  counts: 'users who would get a value again that a revert removed',
  among: '',
  limits: { rows: 0 },
  explains: 'all',
  hint: 'Changes that were reverted would be made again. The source still sends the wrong values. Correct the source. Approve only if the values are right now.',
  start: (plan, { rows: limit }) => {
    let hasChanges = false;
    return {
      add(row) {
        hasChanges ||= !row.changes.isEmpty;
      },
      async finish() {
        const found = new FoundRows();
        if (plan.past.reverts.length === 0 || !hasChanges) return [{ found, limit }];
        const planned = new PlannedChanges();
        for await (const row of plan.readRows()) planned.addRow(row);
        for (const revert of plan.past.reverts)
          for await (const row of plan.readAppliedRows(revert)) {
            const back = findChangeBack(row, planned);
            if (back) found.add({ ...row, line: back.line }, { old: back.new, new: back.old });
          }
        return [{ found, limit }];
      },
    };
  },
});
