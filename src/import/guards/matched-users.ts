import { toMillis, addSeconds } from '../../platform/common/time.js';
import type { User } from '../../users/model/user.js';
import { NumberSet, TextCounts } from '../../users/set-rules/number-collections.js';
import { type UserScope, isAssignedTo } from '../../users/search/user-scope.js';
import type { Column } from '../file/columns.js';
import { hasAccents } from '../plan/text-damage.js';
import { areUnlike, isOtherName } from '../plan/name-likeness.js';
import type { PlannedRow } from '../plan/row-rules.js';
import { LOGINS, NAMES, isFilled, listChangedColumns, listTexts, toText } from './changed-columns.js';
import { FoundRows } from './found-rows.js';
import { FrequentTexts } from './frequent-texts.js';
import { formOf } from './value-form.js';

/** All of the first FIRST_SAMPLED users are sampled, then one of every SAMPLED_EACH users. */
const FIRST_SAMPLED = 4096;
const SAMPLED_EACH = 64;
const MAX_FORMS = 1024;
const MAX_COMMON_VALUES = 64;

const RETURN_SECONDS = 14 * 24 * 3600;

type ValueOf = (user: User) => unknown;

/** A column of the file, with counts of the values that the matched users had in it before the run. */
class ColumnValues {
  filled = 0;
  /** Matched users with `true` in a column of booleans. */
  on = 0;
  readonly forms = new FrequentTexts(MAX_FORMS);
  readonly values = new FrequentTexts(MAX_COMMON_VALUES);
  /** Lines of rows that get the value that the row before, or after, had in this column. */
  readonly fromRowBefore = new NumberSet();
  readonly fromRowAfter = new NumberSet();

  constructor(
    readonly field: string,
    readonly isText: boolean,
    readonly valueOf: ValueOf,
  ) {}

  sample(value: unknown, weight: number): void {
    const text = toText(value);
    this.values.add(text, weight);
    if (this.isText && text !== '') this.forms.add(formOf(text), weight);
  }
}

function toColumnValues({ field, kind }: Column): ColumnValues[] {
  if (field === 'status' || field === 'external_id') return [];
  const isNetwork = kind === 'network';
  const valueOf: ValueOf = isNetwork
    ? ({ social_media: links }): unknown => Reflect.get(links, field) ?? ''
    : (user): unknown => Reflect.get(user, field);
  return [
    new ColumnValues(isNetwork ? `social_media.${field}` : field, kind === 'text' || isNetwork, valueOf),
  ];
}

/** A row with the columns that it changes. */
interface MatchedRow extends Pick<PlannedRow, 'before' | 'after'> {
  line: number;
  changed: readonly ColumnValues[];
}

/**
 * Facts about the users in a file, collected in the order of the file while its rows are planned. The facts concern
 * the users before the run, and the lines of rows with a property that the staged row does not show. Rows that fail
 * later need no correction. Memory use is a few bits for each row.
 */
export class MatchedUsers {
  count = 0;
  active = 0;
  /** Names with letters outside ASCII. */
  accents = 0;
  readonly columns: ReadonlyMap<string, ColumnValues>;
  readonly holders = new Map<string, number>();
  /** Users of another data set or part. */
  readonly foreign = new FoundRows();
  /** Users of another part of the same data set. */
  readonly fromOtherPart = new FoundRows();
  /** Lines of rows that give a user a value that the same user had in another text column. */
  readonly exchanged = new NumberSet();
  /** Lines of rows that become another person. */
  readonly otherPersons = new NumberSet();
  /** Lines of users who were missing from a file of this data set within the last 14 days. */
  readonly returners = new NumberSet();
  /** Matched users by manager. */
  readonly teamSizes = new TextCounts();
  private readonly textColumns: readonly ColumnValues[];
  private readonly hasNames: boolean;
  private readonly logins: readonly ColumnValues[];
  private readonly returnSince: number;
  private previous: MatchedRow | undefined;

  /** @param created time of the run, from which the days of returning users count. */
  constructor(
    header: readonly (Column | undefined)[],
    private readonly scope: UserScope,
    created: string,
  ) {
    const columns = header.flatMap((column) => (column ? toColumnValues(column) : []));
    this.columns = new Map(columns.map((column) => [column.field, column]));
    this.textColumns = columns.filter(({ isText }) => isText);
    this.hasNames = this.columns.has('firstname') && this.columns.has('surname');
    this.logins = columns.filter(({ field }) => LOGINS.includes(field));
    this.returnSince = toMillis(addSeconds(created, -RETURN_SECONDS));
  }

  add(planned: PlannedRow): void {
    const { before, after, row } = planned;
    const changed = listChangedColumns(row).flatMap(({ field }) => this.columns.get(field) ?? []);
    const current = { line: row.line, before, after, changed };
    if (before) this.countUser(before, row.line);
    if (before && after && changed.length > 0) {
      if (this.isExchanged(before, after, changed)) this.exchanged.add(row.line);
      if (this.isOtherPerson(before, after)) this.otherPersons.add(row.line);
    }
    if (this.previous?.before) markTaken(current, this.previous.before, ({ fromRowBefore }) => fromRowBefore);
    if (this.previous && before) markTaken(this.previous, before, ({ fromRowAfter }) => fromRowAfter);
    this.previous = current;
  }

  private countUser(user: User, line: number): void {
    this.count++;
    if (user.status === 'Active') this.active++;
    const weight = this.count <= FIRST_SAMPLED ? 1 : this.count % SAMPLED_EACH === 0 ? SAMPLED_EACH : 0;
    for (const column of this.columns.values()) {
      const value = column.valueOf(user);
      if (value === true) column.on++;
      if (isFilled(value)) column.filled++;
      if (weight > 0) column.sample(value, weight);
    }
    for (const role of user.roles) this.holders.set(role, (this.holders.get(role) ?? 0) + 1);
    for (const field of NAMES)
      if (this.columns.has(field) && hasAccents(toText(Reflect.get(user, field)))) this.accents++;
    if (user.manager_uuid !== null && this.columns.has('manager_uuid')) this.teamSizes.add(user.manager_uuid);
    const isOurBlock = user.blocked_by === this.scope.dataset && user.managed_by === null;
    if (isOurBlock && toMillis(user.updated) >= this.returnSince) this.returners.add(line);
    this.countForeign(user, line);
  }

  private countForeign(user: User, line: number): void {
    const { managed_by: dataset, managed_part: part, external_id } = user;
    if (dataset === null || isAssignedTo(this.scope, user)) return;
    const isOtherPart = dataset === this.scope.dataset;
    const change = isOtherPart
      ? { old: part, new: this.scope.part }
      : { old: dataset, new: this.scope.dataset };
    this.foreign.add({ line, external_id }, change);
    // A file without a part covers all parts of its data set.
    if (isOtherPart && part !== null && this.scope.part !== null)
      this.fromOtherPart.add({ line, external_id }, change);
  }

  private isExchanged(before: User, after: User, changed: readonly ColumnValues[]): boolean {
    const texts = changed.filter(({ isText }) => isText);
    return texts.some(({ field, valueOf }) => {
      const now = valueOf(after);
      return (
        isFilled(now) &&
        (isFilled(valueOf(before)) || texts.length > 1) &&
        this.textColumns.some((other) => other.field !== field && other.valueOf(before) === now)
      );
    });
  }

  private isOtherPerson(before: User, after: User): boolean {
    if (this.hasNames)
      return (
        before.firstname !== after.firstname && before.surname !== after.surname && isOtherName(before, after)
      );
    const compared = this.logins.filter(({ valueOf }) => isFilled(valueOf(before)));
    const withoutDomain = (value: unknown) => listTexts(value).join(' ').replace(/@\S*/g, '');
    return (
      compared.length >= 2 &&
      compared.every(({ valueOf }) =>
        areUnlike(withoutDomain(valueOf(before)), withoutDomain(valueOf(after))),
      )
    );
  }
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || (typeof a === 'object' && toText(a) === toText(b));
}

/** Marks a row in the columns in which its new value is the old value of a neighbouring row. */
function markTaken(
  { line, after, changed }: MatchedRow,
  neighbour: User,
  linesOf: (column: ColumnValues) => NumberSet,
): void {
  for (const column of changed)
    if (after && isSame(column.valueOf(after), column.valueOf(neighbour))) linesOf(column).add(line);
}
