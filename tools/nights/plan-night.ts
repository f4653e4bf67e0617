import { COLUMNS } from '../../src/import/file/columns.js';
import { MatchedUsers } from '../../src/import/guards/matched-users.js';
import { type PlannedRow, createUnchangedRow, outcomeOf } from '../../src/import/plan/row-rules.js';
import { EMPTY_ROW, type StagedRow } from '../../src/import/runs/import-row.js';
import { Changes } from '../../src/platform/common/field-changes.js';
import { type User, diffUsers } from '../../src/users/model/user.js';
import { DATASET, type Organisation, type Person } from './organisation.js';

/**
 * Plans the rows of this night's file as the importer does, without reading a file.
 * @param counted facts about the users of an earlier night, to which only changed rows and their neighbours are added.
 */
export function planNight({ people, before }: Organisation, time: string, counted?: MatchedUsers) {
  const users = counted ?? new MatchedUsers(COLUMNS, { dataset: DATASET, part: null }, time);
  const file = people.filter(({ isListed }) => isListed);
  const isChanged = (person: Person | undefined) =>
    person !== undefined && (before.has(person) || person.user.version === 0 || person.errors.length > 0);
  const staged: StagedRow[] = [];
  let missing = 0;
  for (const [index, person] of file.entries()) {
    if (counted && ![file[index - 1], person, file[index + 1]].some(isChanged)) continue;
    const planned = planPerson(person, before.get(person), index + 2);
    users.add(planned);
    if (planned.row.outcome !== 'unchanged') staged.push(planned.row);
  }
  for (const [{ isListed, user }, old] of before)
    if (!isListed && old.status === 'Active') staged.push(createRow(user, -++missing, 'missing', old));
  const scope = { users: users.count + missing, active: users.active + missing };
  const failed = staged.filter(({ outcome }) => outcome === 'error');
  return {
    rows: file.length,
    users,
    scope,
    failed,
    written: staged.filter(({ outcome }) => outcome !== 'error'),
  };
}

function planPerson(person: Person, before: User | undefined, line: number): PlannedRow {
  const { user, errors } = person;
  const isNew = user.version === 0;
  if (errors.length > 0) {
    const row = { ...createRow(user, line, 'error'), errors };
    return { row, before: isNew ? undefined : user, after: undefined };
  }
  if (isNew) person.user = { ...user, version: 1 };
  if (isNew) return { row: createRow(user, line, 'created'), before: undefined, after: user };
  const row = before && createRow(user, line, outcomeOf(before, user), before);
  if (row && !row.changes.isEmpty) return { row, before, after: user };
  const keys = { line, externalId: user.external_id, manager: undefined };
  const unchanged = (person.unchanged ??= createUnchangedRow(keys, user));
  unchanged.row.line = line;
  return unchanged;
}

function createRow(user: User, line: number, outcome: StagedRow['outcome'], before?: User): StagedRow {
  const { external_id, uuid: user_uuid, version } = user;
  const isChanged = before !== undefined || outcome === 'created';
  const changes = isChanged ? Changes.fromList(diffUsers(before, user)) : EMPTY_ROW.changes;
  return { ...EMPTY_ROW, line, outcome, external_id, user_uuid, version, changes };
}
