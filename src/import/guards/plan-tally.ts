import { COLUMNS } from '../file/columns.js';
import { isObject } from '../../platform/common/json.js';
import type { FieldChange } from '../../platform/common/field-changes.js';
import type { User } from '../../users/model/user.js';
import type { StagedRow } from '../runs/import-row.js';
import {
  ColumnShape,
  ExchangedValues,
  type Example,
  FoundRows,
  type Found,
  FrequentValues,
  OldValues,
  getOrCreate,
} from './column-shape.js';
import { NumberSet } from '../../users/set-rules/number-collections.js';
import { PlannedChanges } from '../plan/compact-collections.js';
import { isBrokenName } from './garbled-text.js';
import { createHash } from 'node:crypto';
import type { UserScope } from '../../users/search/user-scope.js';
import { isWebmasterUser } from '../../users/rules/user-rules.js';
import type { PlannedRow } from '../plan/row-rules.js';

const PRINT_CHARACTERS = 64 * 1024;
/** All of the first FIRST_SAMPLED users are sampled, then one of every SAMPLED_EACH users. */
const FIRST_SAMPLED = 1000;
const SAMPLED_EACH = 64;

/** Numbers, column changes and fingerprint of a plan, collected while its rows are planned. */
export class PlanTally {
  rows = 0;
  unchanged = 0;
  matched = 0;
  /** Number of active users in the file by part. Users without a part are counted under an empty string. */
  readonly listed = new Map<string, number>();
  activeMatched = 0;
  newKeys = 0;
  /** Number of identifiers that rows with a new ExternalId would take from linked users. */
  clashes = 0;
  readonly foreign = new FoundRows();
  readonly shape = new ShapeTally();
  /** Changes of the plan, for the comparison with earlier runs. Undefined if this comparison is not needed. */
  changes: PlannedChanges | undefined;
  private readonly hash = createHash('sha256');
  /** Text that is not hashed yet. Hashing each row separately would be too slow. */
  private printed = '';

  add({ row, before }: PlannedRow): void {
    this.rows++;
    if (before) {
      this.matched++;
      if (before.status === 'Active') this.activeMatched++;
      if (this.matched <= FIRST_SAMPLED || this.matched % SAMPLED_EACH === 0) this.shape.sample(before);
    } else if (row.outcome === 'created') {
      this.newKeys++;
    }
    if (row.outcome === 'unchanged') this.unchanged++;
    else this.addShape(row);
    this.print(row);
  }

  /** Removes the changes of a row that was added but has failed afterwards. */
  withdraw(row: StagedRow): void {
    this.shape.remove(row);
    if (row.outcome === 'created' || row.user_uuid === null) return;
    for (const { field, new: value } of row.changes.list) this.changes?.remove(row.user_uuid, field, value);
  }

  addMissing({ user_uuid, changes, line }: StagedRow): void {
    if (!changes.isEmpty && user_uuid !== null) this.changes?.add(user_uuid, 'status', 'Blocked', line);
  }

  private addShape(row: StagedRow): void {
    this.shape.add(row);
    if (!this.changes || row.outcome === 'created' || row.user_uuid === null) return;
    for (const { field, new: value } of row.changes.list)
      this.changes.add(row.user_uuid, field, value, row.line);
  }

  /** Counts a user who is listed in the file, even if the row fails. Call it once per ExternalId, for its first row. */
  countListed(user: User, scope: UserScope, line: number): void {
    if (user.managed_by === scope.dataset) {
      const part = user.managed_part ?? '';
      if (user.status === 'Active' && !isWebmasterUser(user))
        this.listed.set(part, (this.listed.get(part) ?? 0) + 1);
    } else if (user.managed_by !== null) {
      const { external_id, managed_by: old } = user;
      this.foreign.add(() => ({ line, external_id, old, new: scope.dataset }));
    }
  }

  /** Adds a row to the fingerprint of the plan. Plans with the same fingerprint make the same changes. */
  print(row: StagedRow): void {
    const { line, outcome, external_id, user_uuid, changes, errors } = row;
    // The external_id may contain the separators, so its length is hashed too.
    const { length } = external_id;
    this.printed += `${line} ${outcome} ${user_uuid} ${length} ${external_id}${changes.text}${JSON.stringify(errors)}`;
    if (this.printed.length > PRINT_CHARACTERS) this.flush();
  }

  fingerprint(): string {
    this.flush();
    return this.hash.copy().digest('hex');
  }

  private flush(): void {
    this.hash.update(this.printed);
    this.printed = '';
  }
}

/** Fields that the column guards skip, because other guards check them or the importer itself sets them. */
const ASIDE = new Set('status managed_by managed_part blocked_by external_id password'.split(' '));
/** Fields whose values before the plan are sampled, to find the fields in which users differ. */
const SAMPLED = COLUMNS.filter(
  ({ field, kind }) => kind !== 'flag' && kind !== 'network' && !ASIDE.has(field),
).map(({ field }) => field);
/** Fields whose values usually belong to only one user, although no rule requires it. */
const NUMBERS: readonly string[] = ['phone', 'mobile'];
/** Fields in which people usually differ. If most new users share a value, the file is probably wrong. */
const NAMES: readonly string[] = ['firstname', 'surname'];

type Row = Pick<StagedRow, 'line' | 'external_id' | 'outcome' | 'changes'>;

/** Rows that take a username, an email address or an authname from another user. */
class MovedLogins {
  count = 0;
  readonly lines = new NumberSet();
  readonly updates = new FoundRows();
}

/**
 * Summary of the column changes of a plan and of the values that its rows take from each other. Rows must be added in
 * the order of the file, so that the same plan always has the same summary. Memory use does not depend on the number of
 * rows.
 */
export class ShapeTally {
  private readonly changed = new Map<string, ColumnShape>();
  private readonly olds = new Map<string, OldValues>();
  private readonly numbers = new Map(NUMBERS.map((field) => [field, new ExchangedValues()]));
  private readonly logins = new Map<string, MovedLogins>();
  private readonly names = new Map(NAMES.map((field) => [field, new FrequentValues()]));
  created = 0;
  private readonly brokenNames = new FoundRows();

  get columns(): readonly ColumnShape[] {
    return [...this.changed.values()].sort((a, b) => (a.field < b.field ? -1 : 1));
  }

  /**
   * Records that a row takes a username, an email address or an authname from another user. Call it before `add` for
   * this row.
   */
  takeLogin(line: number, field: string): void {
    const moved = getOrCreate(this.logins, field, () => new MovedLogins());
    moved.lines.add(line);
    moved.count++;
  }

  sample(user: User): void {
    for (const field of SAMPLED) this.oldValues(field).add(Reflect.get(user, field));
    for (const [member, value] of Object.entries(user.social_media))
      this.oldValues(`social_media.${member}`).add(value);
  }

  add(row: Row): void {
    if (row.outcome === 'created') {
      this.addNew(row);
      return;
    }
    if (row.changes.isEmpty) return;
    for (const { field, old, new: now } of changesOf(row)) {
      const example = (): Example => ({ ...idOf(row), old, new: now });
      this.column(field).add(old, now, row);
      const moved = this.logins.get(field);
      if (moved?.lines.has(row.line)) moved.updates.add(example);
      const numbers = this.numbers.get(field);
      if (numbers && isText(old)) numbers.release(old);
      if (numbers && isText(now) && !this.takesLogin(row.line)) numbers.take(now, example);
    }
  }

  /** Undoes `add` for a row that has failed afterwards. */
  remove(row: Row): void {
    const { line } = row;
    for (const moved of this.logins.values()) {
      if (!moved.lines.has(line)) continue;
      moved.count--;
      moved.updates.remove(line);
    }
    if (row.outcome === 'created') {
      this.removeNew(row);
      return;
    }
    for (const { field, old, new: now } of changesOf(row)) {
      this.column(field).remove(old, now, line);
      const numbers = this.numbers.get(field);
      if (numbers && isText(old)) numbers.release(old, -1);
      if (numbers && isText(now) && !this.takesLogin(line)) numbers.untake(now, line);
    }
  }

  /** Rows that take a login or a phone number from another row. `field` is the field with the most such rows. */
  get moved(): Found & { field: string | null } {
    const logins = [...this.logins].map(([field, { count, updates }]) => {
      return { field, count, examples: updates.examples };
    });
    const numbers = [...this.numbers].map(([field, exchanged]) => ({ field, ...exchanged.found }));
    // A row that takes over both a phone and a mobile number must count once, so add only the higher of the two counts.
    const count =
      logins.reduce((sum, moved) => sum + moved.count, 0) + Math.max(...numbers.map((moved) => moved.count));
    const [most] = [...logins, ...numbers].sort((a, b) => b.count - a.count);
    return { count, field: count === 0 ? null : (most?.field ?? null), examples: most?.examples ?? [] };
  }

  get garbled(): Found & { field: string | null } {
    const columns = this.columns.filter(({ damages }) => damages.count > 0);
    const count = columns.reduce((sum, { damages }) => sum + damages.count, this.brokenNames.count);
    const [most] = columns.toSorted((a, b) => b.damages.count - a.damages.count);
    return most && most.damages.count >= this.brokenNames.count
      ? { count, field: most.field, examples: most.damages.examples }
      : { count, field: null, examples: this.brokenNames.examples };
  }

  /** For each field in `NAMES`, the rows of new users with the most frequent name. */
  get sameNames(): readonly (Found & { field: string })[] {
    return [...this.names].map(([field, names]) => ({ field, ...names.most }));
  }

  private addNew(row: Row): void {
    this.created++;
    for (const [field, name] of namesOf(row)) {
      const example = (): Example => ({ ...idOf(row), old: null, new: name });
      this.names.get(field)?.add(name, example);
      if (isBrokenName(name)) this.brokenNames.add(example);
    }
  }

  private removeNew(row: Row): void {
    this.created--;
    for (const [field, name] of namesOf(row)) {
      this.names.get(field)?.remove(name, row.line);
      if (isBrokenName(name)) this.brokenNames.remove(row.line);
    }
  }

  private takesLogin(line: number): boolean {
    return [...this.logins.values()].some(({ lines }) => lines.has(line));
  }

  private column(field: string): ColumnShape {
    return getOrCreate(this.changed, field, () => new ColumnShape(field, this.oldValues(field)));
  }

  private oldValues(field: string): OldValues {
    return getOrCreate(this.olds, field, () => new OldValues(field));
  }
}

const idOf = ({ line, external_id }: Row) => ({ line, external_id });

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

function namesOf({ changes }: Row): [string, string][] {
  const { values } = changes;
  return NAMES.flatMap((field): [string, string][] => {
    const name = values[field];
    return isText(name) ? [[field, name]] : [];
  });
}

/**
 * Returns the changes of a row by column, without the fields in `ASIDE`. Each social network counts as a separate
 * column.
 */
function changesOf({ changes }: Row): FieldChange[] {
  return changes.list.flatMap((change) => {
    if (ASIDE.has(change.field)) return [];
    if (change.field !== 'social_media') return [change];
    const [old, now] = [membersOf(change.old), membersOf(change.new)];
    return [...new Set([...Object.keys(old), ...Object.keys(now)])]
      .filter((member) => old[member] !== now[member])
      .map((member) => ({
        field: `social_media.${member}`,
        old: old[member] ?? null,
        new: now[member] ?? null,
      }));
  });
}

const membersOf = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});
