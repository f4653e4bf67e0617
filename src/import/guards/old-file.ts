import type { StagedRow } from '../runs/import-row.js';
import { FoundRows } from './found-rows.js';
import { computeLimit, defineGuard } from './guard.js';
import { PlannedChanges, findChangeBack, listChanges } from './planned-changes.js';
import type { EarlierRun, Plan } from './plan.js';

/** Share of the users of the last changing run that an old file changes back. */
const TAKEN_BACK_SHARE = 0.5;
/** Share of the changes of an old file that give a user back an earlier value. */
const KNOWN_SHARE = 0.99;

export const oldFile = defineGuard({
  name: 'old_file',
  counts: 'changed users, if the file brings nothing new and takes back half of the last changes',
  among: 'the scope',
  limits: { rows: 5, percent: 1 },
  explains: 'all',
  hint: 'The file brings nothing new and takes back what the last import changed. It is probably older than the last file. Reject it and import the newest file.',
  start(plan, limits) {
    const changed = new FoundRows();
    const planned = new PlannedChanges();
    return {
      add(row, changes) {
        if (row.changes.isEmpty) return;
        changed.add(row, changes[0]);
        planned.addRow(row);
      },
      async finish() {
        const limit = computeLimit(limits, plan.scope.users);
        const [last] = plan.past.changing;
        // Reading earlier runs is slow. Usually the plan changes too few users to be an old file.
        const isOld = last !== undefined && changed.count > limit && (await takesBack(plan, planned, last));
        return [{ found: isOld ? changed : new FoundRows(), limit }];
      },
    };
  },
});

async function takesBack(plan: Plan, planned: PlannedChanges, last: EarlierRun): Promise<boolean> {
  const ofLast = await countTakenBack(plan.readAppliedRows(last), planned);
  if (ofLast.takenBack < Math.max(1, TAKEN_BACK_SHARE * ofLast.users)) return false;
  if (await plan.isKnownFile()) return true;
  for (const run of plan.past.changing) await countTakenBack(plan.readAppliedRows(run), planned);
  return planned.found >= KNOWN_SHARE * planned.size;
}

/** Counts the users of earlier rows, and the users whom the plan changes back. Marks the found changes of the plan. */
async function countTakenBack(rows: AsyncIterable<StagedRow>, planned: PlannedChanges) {
  const count = { users: 0, takenBack: 0 };
  for await (const row of rows) {
    if (row.user_uuid === null || !planned.isSampled(row.user_uuid) || listChanges(row).length === 0)
      continue;
    count.users++;
    if (findChangeBack(row, planned)) count.takenBack++;
  }
  return count;
}
