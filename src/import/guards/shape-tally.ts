import { isObject } from '../../platform/common/json.js';
import type { FieldChange } from '../../platform/common/changes.js';
import type { User } from '../../users/model/user.js';
import type { StagedRow } from '../runs/import-row.js';
import { ColumnShape } from './column-shape.js';
import { LineSet } from '../plan/compact-storage.js';
import { ExchangedValues } from './exchanged-values.js';
import { isBrokenName } from './garbled-text.js';
import { type Example, Examples, type Found } from './guard-examples.js';
import { FrequentValues } from './value-counts.js';

/** Fields that have guards of their own, or that the importer itself keeps. */
const ASIDE: ReadonlySet<string> = new Set([
  'status',
  'managed_by',
  'managed_part',
  'blocked_by',
  'external_id',
  'password',
]);
/** Fields in which users may have one value each. */
const SAMPLED = [
  'username',
  'email',
  'firstname',
  'surname',
  'middle_name',
  'known_as',
  'phone',
  'mobile',
  'authname',
  'roles',
  'manager_uuid',
  'user_avatar',
  'about_me',
] as const satisfies readonly (keyof User)[];
/** A number belongs to one user, though no rule says so. */
const NUMBERS: readonly string[] = ['phone', 'mobile'];
/** Fields in which people differ: where half of a crowd has one value, the file is at fault. */
const NAMES: readonly string[] = ['firstname', 'surname'];

type Row = Pick<StagedRow, 'line' | 'externalId' | 'outcome' | 'changes'>;

/** Rows that take a login of another user, in a bit each. */
class MovedLogins {
  count = 0;
  readonly lines = new LineSet();
  readonly examples = new Examples();
}

/**
 * The shape of a plan: what its rows do to each column, and which values they exchange. Rows are added in the order of
 * the file, so that a plan that is made twice has the same shape; memory does not grow with them.
 */
export class ShapeTally {
  private readonly known = new Map<string, ColumnShape>();
  private readonly numbers = new Map(NUMBERS.map((field) => [field, new ExchangedValues()]));
  private readonly logins = new Map<string, MovedLogins>();
  private readonly names = new Map(NAMES.map((field) => [field, new FrequentValues()]));
  /** New users. */
  created = 0;
  private broken = 0;
  private readonly brokenNames = new Examples();

  get columns(): readonly ColumnShape[] {
    return [...this.known.values()].sort((a, b) => (a.field < b.field ? -1 : 1));
  }

  /** The row takes a username, e-mail address or authname that somebody else has now; told before it is added. */
  takeLogin(line: number, field: string): void {
    const moved = this.logins.get(field) ?? new MovedLogins();
    this.logins.set(field, moved);
    moved.lines.add(line);
    moved.count++;
  }

  /** What a user has before the plan: enough of them tell in which columns users differ. */
  sample(user: User): void {
    for (const field of SAMPLED) this.column(field).sample(user[field]);
    for (const [member, value] of Object.entries(user.social_media))
      this.column(`social_media.${member}`).sample(value);
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
      if (moved?.lines.has(row.line)) moved.examples.add(example);
      const numbers = this.numbers.get(field);
      if (numbers && isText(old)) numbers.release(old);
      if (numbers && isText(now) && !this.takesLogin(row.line)) numbers.take(now, example);
    }
  }

  /** Takes back what was added of a row that has failed after all. */
  remove(row: Row): void {
    const { line } = row;
    for (const moved of this.logins.values()) {
      if (!moved.lines.has(line)) continue;
      moved.count--;
      moved.examples.remove(line);
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

  /** Rows that take a login or a number which another row gives up, and the field in which most do. */
  get moved(): Found & { field: string | null } {
    const logins = [...this.logins].map(([field, { count, examples }]) => ({
      field,
      count,
      examples: examples.list,
    }));
    const numbers = [...this.numbers].map(([field, exchanged]) => ({ field, ...exchanged.found }));
    // A row may take both kinds of number, and counts once.
    const count =
      logins.reduce((sum, moved) => sum + moved.count, 0) + Math.max(...numbers.map((moved) => moved.count));
    const [most] = [...logins, ...numbers].sort((a, b) => b.count - a.count);
    return { count, field: count === 0 ? null : (most?.field ?? null), examples: most?.examples ?? [] };
  }

  get garbled(): Found & { field: string | null } {
    const columns = this.columns.filter(({ garbled }) => garbled > 0);
    const count = columns.reduce((sum, { garbled }) => sum + garbled, this.broken);
    const [most] = [...columns].sort((a, b) => b.garbled - a.garbled);
    if (!most || most.garbled < this.broken) return { count, field: null, examples: this.brokenNames.list };
    return { count, field: most.field, examples: most.damages.list };
  }

  /** The name that most new users have, by its field. */
  get sameNames(): readonly (Found & { field: string })[] {
    return [...this.names].map(([field, names]) => ({ field, ...names.most }));
  }

  private addNew(row: Row): void {
    this.created++;
    for (const [field, name] of namesOf(row)) {
      const example = (): Example => ({ ...idOf(row), old: null, new: name });
      this.names.get(field)?.add(name, example);
      if (!isBrokenName(name)) continue;
      this.broken++;
      this.brokenNames.add(example);
    }
  }

  private removeNew(row: Row): void {
    this.created--;
    this.brokenNames.remove(row.line);
    for (const [field, name] of namesOf(row)) {
      this.names.get(field)?.remove(name, row.line);
      if (isBrokenName(name)) this.broken--;
    }
  }

  private takesLogin(line: number): boolean {
    return [...this.logins.values()].some(({ lines }) => lines.has(line));
  }

  private column(field: string): ColumnShape {
    const column = this.known.get(field) ?? new ColumnShape(field);
    this.known.set(field, column);
    return column;
  }
}

const idOf = ({ line, externalId }: Row) => ({ line, externalId });

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

function namesOf({ changes }: Row): [string, string][] {
  const { values } = changes;
  return NAMES.flatMap((field): [string, string][] => {
    const name = values[field];
    return isText(name) ? [[field, name]] : [];
  });
}

/** The changes of a row's columns: each network is one. */
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
