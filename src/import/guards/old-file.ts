import { FoundRows } from './found-rows.js';
import { SCOPE, computeLimit, defineGuard } from './guard.js';
import { PlannedChanges, findChangesBack, listChanges } from './planned-changes.js';
import type { Plan } from './plan.js';

/** Share of the users of the last changing run that an old file changes back. */
const TAKEN_BACK_SHARE = 0.5;
/** Share of the changes of an old file that give a user back an earlier value. */
const KNOWN_SHARE = 0.99;
/**
 * Number of rows of earlier runs after which the comparison ends, unless the file has taken back most of the last run.
 * A larger plan allows a tenth of its rows, so that the comparison takes a small part of the planning time.
 */
const MAX_READ_ROWS = 50_000;
const MAX_READ_SHARE = 0.1;

export const oldFile = defineGuard({
  name: 'old_file',
  counts:
    'changed users, if the file brings nothing new and takes back half of the last changes, or users who get old values back that several runs had changed',
  population: SCOPE,
  limits: { rows: 5, percent: 1 },
  explains: 'all',
  hint: 'The file takes back what earlier imports changed. If the file or some of its columns are older than the last file, reject it and import the newest one. If it corrects a wrong file, approve it.',
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
        // Reading earlier runs is slow. Usually the plan changes too few users to be an old file.
        const found = changed.count > limit ? await findOldRows(plan, planned, changed) : new FoundRows();
        return [{ found }];
      },
    };
  },
});

/** Returns the rows of an old file, or rows with old values in some columns. */
async function findOldRows(plan: Plan, planned: PlannedChanges, changed: FoundRows): Promise<FoundRows> {
  const lines = new Set<number>();
  const oldValues = new FoundRows();
  let isLastTakenBack = false;
  let [read, mostOfOneRun] = [0, 0];
  const maxRead = Math.max(MAX_READ_ROWS, plan.rows * MAX_READ_SHARE);
  for (const [index, run] of plan.past.changing.entries()) {
    const ofRun = { users: 0, takenBack: 0, found: 0 };
    for await (const row of plan.readAppliedRows(run)) {
      if (index === 0) isLastTakenBack = ofRun.takenBack >= Math.max(1, TAKEN_BACK_SHARE * ofRun.users);
      if (++read > maxRead && !isLastTakenBack) break;
      if (row.user_uuid === null || !planned.isSampled(row.user_uuid) || listChanges(row).length === 0)
        continue;
      ofRun.users++;
      const back = [...findChangesBack(row, planned)];
      if (back.length > 0) ofRun.takenBack++;
      // Leavers and returners have guards of their own. Each row counts for the newest run that it takes back.
      const value = back.find(({ field, line }) => field !== 'status' && !lines.has(line));
      if (!value) continue;
      lines.add(value.line);
      ofRun.found++;
      oldValues.add({ ...row, line: value.line }, { old: value.new, new: value.old });
    }
    mostOfOneRun = Math.max(mostOfOneRun, ofRun.found);
    if (index === 0) isLastTakenBack = ofRun.takenBack >= Math.max(1, TAKEN_BACK_SHARE * ofRun.users);
  }
  if (isLastTakenBack && ((await plan.isKnownFile()) || planned.found >= KNOWN_SHARE * planned.size))
    return changed;
  // A file that corrects one wrong file takes back only the changes of one run.
  oldValues.count -= mostOfOneRun;
  return oldValues;
}
