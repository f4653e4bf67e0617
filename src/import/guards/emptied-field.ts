import { TextNumbers } from '../../users/set-rules/number-collections.js';
import { GUARDED_ELSEWHERE, LOGINS, isFilled, toText } from './changed-columns.js';
import { USERS_WITH_VALUE, computeLimit, countByField, defineGuard } from './guard.js';
import { losesAccess } from './plan.js';

const MANAGER = 'manager_uuid';
/** Maximum number of managers whose reports are counted separately. */
const MAX_MANAGERS = 1000;

export const emptiedField = defineGuard({
  name: 'emptied_field',
  counts:
    'users whose value is emptied, for each column, except managers who leave. `login_percent` is for logins',
  population: USERS_WITH_VALUE,
  /** `login_percent` replaces `percent` for logins. */
  limits: { rows: 5, percent: 10, login_percent: 2 },
  isSummed: true,
  explains: [],
  hint: 'Many users would lose their value in this column. The source probably does not send it, or has stopped sending it. Compare some rows with the source. If the source has no such values, let blank cells keep the value (option blank_cells).',
  start(plan, { rows, login_percent: percent }) {
    const leavers = new TextNumbers();
    /** Number of users who lose their manager, by manager. */
    const reports = new Map<string, number>();
    const counter = countByField(
      ({ field, old, new: now }) =>
        !GUARDED_ELSEWHERE.has(field) && typeof now !== 'boolean' && isFilled(old) && !isFilled(now)
          ? [field]
          : [],
      (field) =>
        LOGINS.includes(field)
          ? computeLimit({ rows, percent }, USERS_WITH_VALUE.count(plan, field))
          : undefined,
    );
    return {
      add(row, changes) {
        if (losesAccess(row) && row.user_uuid !== null) leavers.assignNumber(row.user_uuid);
        const lost = changes.find(({ field, new: now }) => field === MANAGER && !isFilled(now));
        const manager = toText(lost?.old);
        if (lost && (reports.has(manager) || reports.size < MAX_MANAGERS))
          reports.set(manager, (reports.get(manager) ?? 0) + 1);
        counter.add(row, changes);
      },
      finish() {
        const found = counter.byField.get(MANAGER);
        for (const [manager, count] of reports)
          if (found && leavers.findNumber(manager) !== 0) found.count -= count;
        return counter.finish();
      },
    };
  },
});
