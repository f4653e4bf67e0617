import { TextCounts } from '../../users/set-rules/number-collections.js';
import { toText, isReplaced } from './changed-columns.js';
import { FoundRows } from './found-rows.js';
import { USERS_WITH_VALUE, computeLimit, defineGuard } from './guard.js';

/** If this share of a team goes to the same new manager, these users count as one. */
const TEAM_SHARE = 2 / 3;

export const changedManagers = defineGuard({
  name: 'changed_managers',
  counts:
    'users who get another manager. A team that goes to the same manager counts as one. `all_rows` and `all_percent` count each user',
  population: { ...USERS_WITH_VALUE, text: 'the users who had a manager' },
  /**
   * `rows` and `percent` limit teams and single users. `all_rows` and `all_percent` limit the users, with other
   * percentages for a scope of fewer than 400 or 100 users.
   */
  limits: {
    ...{ rows: 10, percent: 10, all_rows: 30, all_percent: 30 },
    ...{ all_percent_under_400: 50, all_percent_under_100: 80 },
  },
  explains: [],
  hint: 'Many users would get another manager, and not as whole teams. The Manager column may be shifted, sorted separately or filled with one value. Compare some rows with the source before you approve.',
  start({ users, scope }, limits) {
    const found = new FoundRows();
    const moves = new TextCounts();
    /** Old manager of each move, by the number of the move. */
    const teamOf: string[] = [];
    return {
      add(row, changes) {
        const change = changes.find(({ field }) => field === 'manager_uuid');
        if (!change || !isReplaced(change)) return;
        found.add(row, change);
        const old = toText(change.old);
        teamOf[moves.add(`${old} ${toText(change.new)}`)] = old;
      },
      finish() {
        const had = users.columns.get('manager_uuid')?.filled ?? 0;
        let count = found.count;
        for (const [number, team] of teamOf.entries()) {
          const moved = moves.at(number);
          if (number > 0 && moved >= TEAM_SHARE * users.teamSizes.get(team)) count -= moved - 1;
        }
        const percent =
          scope.users < 100
            ? limits.all_percent_under_100
            : scope.users < 400
              ? limits.all_percent_under_400
              : limits.all_percent;
        const ofTeams = { found: { count, examples: found.examples }, limit: computeLimit(limits, had) };
        const ofUsers = { found, limit: computeLimit({ rows: limits.all_rows, percent }, had) };
        const isOverByUsers = found.count > ofUsers.limit && count <= ofTeams.limit;
        return [{ field: 'manager_uuid', ...(isOverByUsers ? ofUsers : ofTeams) }];
      },
    };
  },
});
