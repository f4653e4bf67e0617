import type { FieldChange } from '../../users/model/differences.js';
import { moved } from '../../users/change/conflicts.js';
import { exactKey, identifiersOf } from '../../users/model/keys.js';
import type { RowError } from '../runs/import-row.js';
import { IntList } from './int-list.js';
import { LineSet } from './line-set.js';
import { ManagerGraph } from './manager-graph.js';
import type { JudgedRow } from './row-judge.js';
import { TextNumbers, hash64 } from './text-numbers.js';

/** A row that takes what belongs to somebody else, who must give it up in this file. */
export interface Need {
  line: number;
  field: string;
  identifier: string;
  owner: string;
}

/** Rows with one ExternalId. */
interface Repeated {
  lines: number[];
  differ: boolean;
}

/**
 * What is remembered of a whole file while it is planned: keys and line numbers, in some hundred bytes a row, and
 * details only of what is in conflict.
 */
export class PlanState {
  private readonly externalIds = new TextNumbers();
  /** By the number of the ExternalId: the first row with it, and a hash of its cells. */
  private readonly lines = new IntList();
  private readonly contents = new IntList();
  /** Names, addresses and logins, and by their number: the row that takes it, and the row that gives it up. */
  private readonly identifiers = new TextNumbers();
  private readonly takers = new IntList();
  private readonly givers = new IntList();
  readonly managers = new ManagerGraph();
  readonly needs: Need[] = [];
  /** Managers whom only this file may bring: rows, and the numbers of the managers' ExternalIds. */
  private readonly awaiting = { lines: new IntList(), managers: new IntList() };
  /** Managers in the database whose own managers matter for circles. */
  readonly above = new Set<string>();
  /** Rows of which nothing stands: they fail, or are skipped. */
  readonly failed = new LineSet();
  /** Errors of rows that looked good when they were read. */
  readonly late = new Map<number, RowError[]>();
  private readonly repeated = new Map<number, Repeated>();

  /** Takes note of a row's ExternalId. @returns whether the row is the first one with it. */
  claimExternalId(line: number, externalId: string, cells: readonly string[]): boolean {
    const number = this.externalIds.number(exactKey(externalId));
    const [content] = hash64(cells.join('\0'));
    const first = this.lines.at(number);
    if (first === 0) {
      this.lines.set(number, line);
      this.contents.set(number, content);
      return true;
    }
    const group = this.repeated.get(first) ?? { lines: [first], differ: false };
    this.repeated.set(first, group);
    group.lines.push(line);
    if (this.contents.at(number) !== content) group.differ = true;
    return false;
  }

  /** The first row with this ExternalId; 0 for none. */
  lineOf(externalId: string): number {
    return this.lines.at(this.externalIds.find(exactKey(externalId)));
  }

  /** The first row that gives up a name, an address or a login; 0 for none. */
  giverOf(identifier: string): number {
    return this.givers.at(this.identifiers.find(identifier));
  }

  /** Rows, and the first row with the ExternalId of their manager; 0 for none. */
  *awaited(): Generator<[line: number, manager: number]> {
    const { lines, managers } = this.awaiting;
    for (let index = 0; index < lines.length; index++) {
      yield [lines.at(index), this.lines.at(managers.at(index))];
    }
  }

  /** Takes note of what a row, good so far, takes and gives up. */
  add({ row, before, after }: JudgedRow): void {
    if (row.outcome === 'error' || row.outcome === 'skipped') this.failed.add(row.line);
    if (!after) return;
    for (const { field, identifier } of identifiersOf(after)) {
      if (field === 'external_id') continue;
      // A username of one row may be the e-mail of another: the lowest bit says which it was.
      const number = this.identifiers.number(identifier);
      const other = this.takers.at(number);
      if (other === 0) this.takers.set(number, row.line * 2 + Number(field === 'email'));
      const otherLine = other >> 1;
      if (other === 0 || otherLine === row.line) continue;
      const otherField = field === 'authname' ? field : other % 2 === 1 ? 'email' : 'username';
      this.fail(row.line, repeatedError(field, otherLine));
      this.fail(otherLine, repeatedError(otherField, row.line));
    }
    if (!before || row.outcome === 'unchanged') return;
    for (const { identifier } of moved({ before, after, ifVersions: undefined, error: undefined }).given) {
      this.givers.set(this.identifiers.number(identifier), row.line);
    }
  }

  /**
   * Takes note of a new manager.
   * @param exists whether the manager is a user already.
   * @param awaited external id of a manager whom only this file links to a user.
   */
  addManager(
    { row, before, after }: JudgedRow,
    { exists, awaited }: { exists: boolean; awaited: string | undefined },
  ): void {
    if (!after || !changes(row.changes, 'manager_uuid')) return;
    const manager = exists ? after.manager_uuid : null;
    if (before) this.managers.move(row.line, before.uuid, manager, before.manager_uuid);
    else this.managers.create(row.line, manager);
    for (const user of [manager, before?.manager_uuid]) if (user) this.above.add(user);
    if (awaited === undefined) return;
    this.awaiting.lines.push(row.line);
    this.awaiting.managers.push(this.externalIds.number(exactKey(awaited)));
  }

  /** A row that looked good fails. */
  fail(line: number, error: RowError): void {
    this.failed.add(line);
    const errors = this.late.get(line);
    if (!errors) this.late.set(line, [error]);
    else if (!errors.some(({ field, code }) => field === error.field && code === error.code))
      errors.push(error);
  }

  /** Once all rows are read: rows with one ExternalId that are not all the same fail together. */
  failRepeated(): void {
    for (const { lines, differ } of this.repeated.values()) {
      if (!differ) continue;
      for (const line of lines) {
        const other = lines.find((candidate) => candidate !== line) ?? line;
        this.fail(line, repeatedError('external_id', other));
      }
    }
  }
}

function changes(list: readonly FieldChange[], field: string): boolean {
  return list.some((change) => change.field === field);
}

function repeatedError(field: string, line: number): RowError {
  return { field, code: 'duplicate', message: `stands on line ${line} too` };
}
