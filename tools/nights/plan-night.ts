import { COLUMNS } from '../../src/import/file/columns.js';
import { MatchedUsers } from '../../src/import/guards/matched-users.js';
import { createUnchangedRow, outcomeOf, type PlannedRow } from '../../src/import/plan/row-rules.js';
import { EMPTY_ROW, type StagedRow } from '../../src/import/runs/import-row.js';
import { Changes } from '../../src/platform/common/field-changes.js';
import { type User, diffUsers, listFilledFields } from '../../src/users/model/user.js';
import { DATASET, type Organisation, type Person } from './organisation.js';

/** A night's file as the importer plans it: changed rows, failed rows and facts about the matched users. */
export interface NightPlan {
  rows: number;
  users: MatchedUsers;
  staged: StagedRow[];
  failed: StagedRow[];
  missing: number;
}

/** Plans the rows of this night's file as the importer does, without reading a file. */
export function planNight(org: Organisation): NightPlan {
  const { night, before } = org;
  const file = org.listFile();
  const users = new MatchedUsers(COLUMNS, { dataset: DATASET, part: null }, night.time);
  const plan: NightPlan = { rows: file.length, users, staged: [], failed: [], missing: 0 };
  for (const [index, person] of file.entries()) {
    const planned = planPerson(person, before.get(person), index + 2);
    users.add(planned);
    if (planned.row.outcome === 'error') plan.failed.push(planned.row);
    else if (planned.row.outcome !== 'unchanged') plan.staged.push(planned.row);
  }
  for (const [person, user] of before)
    if (!person.isListed && user.status === 'Active')
      plan.staged.push(createRow(person, -++plan.missing, 'missing', user));
  return plan;
}

function planPerson(person: Person, before: User | undefined, line: number): PlannedRow {
  const { user } = person;
  if (person.errors.length > 0) {
    const row = { ...createRow(person, line, 'error'), errors: person.errors };
    return { row, before: person.isStored ? user : undefined, after: undefined };
  }
  if (!person.isStored) {
    person.isStored = true;
    return { row: createRow(person, line, 'created'), before: undefined, after: user };
  }
  const row = before && createRow(person, line, outcomeOf(before, user), before);
  if (row && !row.changes.isEmpty) return { row, before, after: user };
  const unchanged = (person.unchanged ??= createUnchangedRow({ line, externalId: user.external_id }, user));
  unchanged.row.line = line;
  return unchanged;
}

function createRow({ user }: Person, line: number, outcome: StagedRow['outcome'], before?: User): StagedRow {
  const { external_id, uuid: user_uuid, version } = user;
  const changes = before
    ? Changes.fromList(diffUsers(before, user))
    : outcome === 'created'
      ? listFilledFields(user)
      : EMPTY_ROW.changes;
  return { ...EMPTY_ROW, line, outcome, external_id, user_uuid, version, changes };
}
