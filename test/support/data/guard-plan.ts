import { COLUMNS } from '../../../src/import/file/columns.js';
import {
  type EvaluatedGuard,
  evaluateGuards,
  sumEarlierCounts,
} from '../../../src/import/guards/guard-evaluation.js';
import { LimitSettings } from '../../../src/import/guards/guard-limits.js';
import { MatchedUsers } from '../../../src/import/guards/matched-users.js';
import { UnlistedWords } from '../../../src/import/mapping/unlisted-words.js';
import { outcomeOf } from '../../../src/import/plan/row-rules.js';
import type { GuardOverrides } from '../../../src/import/runs/import-guard.js';
import { EMPTY_ROW, type StagedRow, toFailedRow } from '../../../src/import/runs/import-row.js';
import { Changes, NO_CHANGES } from '../../../src/platform/common/field-changes.js';
import { toLoginKey, toNameSortKey } from '../../../src/users/model/comparison-keys.js';
import { EMPTY_USER, type User, diffUsers } from '../../../src/users/model/user.js';
import type { ManagedUser } from '../../../src/users/search/user-directory.service.js';

const FIRST_NAMES = 'Zoé Hans Björn Ivy Max Ute Quinn Rolf Émile Dag'.split(' ');
const SYLLABLES = 'Böck Finth Rusk Moly Wend Päx Gart Chow Lisse Dünk Tavo Jyrn Osk'.split(' ');

/** Creates a user of the default data set. Teams have eight members, and each tenth user is an editor. */
function createPerson(i: number): User {
  const syllableAt = (place: number) => SYLLABLES[Math.floor(i / 13 ** place) % 13] ?? '';
  const [firstname = '', surname] = [FIRST_NAMES[i % 10], syllableAt(0) + syllableAt(1).toLowerCase()];
  const login = `${firstname}.${surname}${i}`
    .toLowerCase()
    .normalize('NFD')
    .replace(/\P{ASCII}/gu, '');
  const id = String(i).padStart(6, '0');
  return {
    ...EMPTY_USER,
    ...{ uuid: `u${id}`, external_id: `e${id}`, version: 1, managed_by: 'default', firstname, surname },
    ...{ username: login, email: `${login}@lake.example`, authname: { saml: [login] } },
    ...{
      phone: `+49 30 ${700_000 + i * 7}`,
      mobile: '',
      roles: i % 10 === 0 ? ['Reader', 'Editor'] : ['Reader'],
    },
    ...{ manager_uuid: `m${Math.floor(i / 8)}`, updated: '2026-01-01 00:00:00.000' },
  };
}

export const createStaff = (count: number): User[] =>
  Array.from({ length: count }, (_, i) => createPerson(i));

type Changed = Partial<User> | false;
type Change = (user: User, i: number, all: readonly User[]) => Changed;
/** The change of a user, or a function that returns it. `false` means that the file lacks the user. */
export type Edit = Changed | Change;

/** Returns an edit as a function. */
export const toChange = (edit: Edit): Change => (typeof edit === 'function' ? edit : () => edit);

/** Returns copies of users with changes. Users who do not change stay the same object. */
export function edit(staff: readonly User[], change: Edit): User[] {
  return staff.flatMap((user, i) => {
    const changes = toChange(change)(user, i, staff);
    if (changes === false) return [];
    return Object.keys(changes).length === 0 ? [user] : [{ ...user, ...changes }];
  });
}

export interface Night {
  before: readonly User[];
  /** Users as the file lists them, in its order. */
  file: readonly User[];
  /** Returns true for users whose rows fail after they were planned. */
  fails?: (user: User) => boolean;
  /** Header of the file. The default is all columns. */
  columns?: readonly string[];
  missing?: 'keep' | 'report' | 'block';
  part?: string;
  /** Earlier runs, newest first. The default is one run without changes. */
  past?: readonly Partial<PlannedNight>[];
  reverts?: readonly PlannedNight[];
  /** Words that only `*` matches, with the number of their rows. */
  words?: Readonly<Record<string, number>>;
  isKnownFile?: boolean;
  settings?: Readonly<Record<string, string>>;
  profile?: GuardOverrides;
}

export interface PlannedNight {
  guards: EvaluatedGuard[];
  staged: StagedRow[];
  failed: StagedRow[];
  isApproved?: boolean;
}

const TIME = '2026-03-01 00:00:00.000';

/** Plans a file without a database, and evaluates the guards. */
export async function planNight(night: Night): Promise<PlannedNight> {
  const { before, file, missing = 'block', part = null, past = [{}], reverts = [], profile } = night;
  const runs = new Map<string, Partial<PlannedNight>>(
    [...past, ...reverts].map((run, i) => [`run ${i}`, run]),
  );
  const known = new Map(before.map((user) => [user.external_id, user]));
  const header = COLUMNS.filter(({ name }) => night.columns?.includes(name) ?? true);
  const users = new MatchedUsers(header, { dataset: 'default', part }, TIME);
  const [staged, failed]: [StagedRow[], StagedRow[]] = [[], []];
  for (const [index, after] of file.entries()) {
    const planned = createRow(index + 2, known.get(after.external_id), after);
    users.add(planned);
    const errors = [{ field: 'email', code: 'conflict', message: '' }];
    if (night.fails?.(after)) failed.push(toFailedRow(planned.row, errors));
    else if (planned.row.outcome !== 'unchanged') staged.push(planned.row);
  }
  const listed = new Set(file.map(({ external_id }) => external_id));
  const unlisted = before.filter(
    ({ external_id, status, managed_by }) =>
      !listed.has(external_id) && status === 'Active' && managed_by === 'default',
  );
  if (missing !== 'keep')
    staged.push(...unlisted.map((user, index) => createMissingRow(user, -1 - index, missing === 'block')));
  const words = new UnlistedWords();
  for (const [word, rows] of Object.entries(night.words ?? {}))
    for (let i = 0; i < rows; i++) words.add('Class', word, i + 2);
  const scope = { users: users.count + unlisted.length, active: users.active + unlisted.length };
  const toEarlierRun = (id: string) => ({ id, applied_batches: 1, file_sha256: '' });
  const ids = [...runs.keys()];
  const limits = new LimitSettings('normal', new Map(Object.entries(night.settings ?? {})));
  const plan = {
    ...{ rows: file.length, users, scope, words, defaultRoles: ['Reader'] },
    past: {
      isFirst: past.length === 0,
      last: past[0] && { id: 'run 0', guards: [], line_ended: null },
      knownWords: past[0] && { Class: ['known'] },
      changing: ids
        .slice(0, past.length)
        .filter((id) => runs.get(id)?.staged?.length)
        .map(toEarlierRun),
      reverts: ids.slice(past.length).map(toEarlierRun),
    },
    isKnownFile: () => Promise.resolve(night.isKnownFile ?? false),
    readRows: () => iterate(staged),
    readFailedRows: (run?: { id: string }) => iterate(run ? (runs.get(run.id)?.failed ?? []) : failed),
    readAppliedRows: ({ id }: { id: string }) => iterate(runs.get(id)?.staged ?? []),
    readScope: () => iterate([before.filter(({ status }) => status === 'Active').map(toManagedUser)]),
  };
  const earlier = past.map(({ guards = [], isApproved = false }) => ({ guards, approved: isApproved }));
  const guards = await evaluateGuards(
    plan,
    limits.getLimits(scope.users, profile),
    sumEarlierCounts(earlier),
  );
  return { guards, staged, failed };
}

function createRow(line: number, before: User | undefined, after: User) {
  const { external_id, uuid: user_uuid, version } = after;
  const base = { ...EMPTY_ROW, line, external_id, user_uuid, version };
  const changes = Changes.fromList(diffUsers(before, after));
  if (!before) return { row: { ...base, version: 0, outcome: 'created' as const, changes }, before, after };
  const outcome = changes.isEmpty ? 'unchanged' : outcomeOf(before, after);
  return { row: { ...base, outcome, changes }, before, after };
}

function createMissingRow({ external_id, uuid, version }: User, line: number, isBlocked: boolean): StagedRow {
  const changes = isBlocked
    ? Changes.fromList([{ field: 'status', old: 'Active', new: 'Blocked' }])
    : NO_CHANGES;
  return { ...EMPTY_ROW, line, outcome: 'missing', external_id, user_uuid: uuid, version, changes };
}

/** Returns a user as `UserDirectory` lists it. */
export const toManagedUser = (user: User): ManagedUser => ({
  ...user,
  username_key: toLoginKey(user.username),
  email_key: toLoginKey(user.email),
  surname_sort: toNameSortKey(user.surname),
  isWebmaster: false,
});

export async function* iterate<T>(items: readonly T[]): AsyncIterable<T> {
  yield* items;
}

/** Returns the hits as `guard` or `guard field`, in the order of the run. */
export const listHits = ({ guards }: Pick<PlannedNight, 'guards'>): string[] =>
  guards.flatMap(({ name, field, hit }) => (hit ? [field === null ? name : `${name} ${field}`] : []));
