import type { FieldChange } from '../../users/user.changes.js';
import { moved } from '../../users/user.conflicts.js';
import { exactKey, identifiersOf } from '../../users/user.keys.js';
import type { RowError } from '../run/import.row.js';
import { IntList } from './int-list.js';
import { KeyTable, hash64 } from './key-table.js';
import { LineSet } from './line-set.js';
import { ManagerGraph } from './manager-graph.js';
import type { JudgedRow } from './row-judge.js';

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
  readonly externalIds = new KeyTable();
  private readonly contents = new KeyTable();
  private readonly identifiers = new KeyTable();
  /** Identifier → the row that gives it up. */
  readonly given = new KeyTable();
  readonly managers = new ManagerGraph();
  readonly needs: Need[] = [];
  /** Managers that the database does not know: rows, and the hashes of the managers' external ids. */
  readonly awaited = { lines: new IntList(), high: new IntList(), low: new IntList() };
  /** Managers in the database whose own managers matter for circles. */
  readonly above = new Set<string>();
  /** Rows of which nothing stands: they fail, or are skipped. */
  readonly failed = new LineSet();
  /** Errors of rows that looked good when they were read. */
  readonly late = new Map<number, RowError[]>();
  private readonly repeated = new Map<number, Repeated>();

  /**
   * Takes note of a row's ExternalId. @returns undefined for the first row with it, otherwise whether it is `same` as
   * the first one or `differs`.
   */
  claimExternalId(
    line: number,
    externalId: string,
    cells: readonly string[],
  ): 'same' | 'differs' | undefined {
    const key = exactKey(externalId);
    const content = hash64(JSON.stringify(cells))[0] >> 1 || 1;
    const first = this.externalIds.claim(key, line);
    if (first === 0) {
      this.contents.set(key, content);
      return undefined;
    }
    const group = this.repeated.get(first) ?? { lines: [first], differ: false };
    this.repeated.set(first, group);
    group.lines.push(line);
    const same = this.contents.get(key) === content;
    if (!same) group.differ = true;
    return same ? 'same' : 'differs';
  }

  /** Takes note of what a row, good so far, takes and gives up. */
  add({ row, before, after }: JudgedRow): void {
    if (row.outcome === 'error' || row.outcome === 'skipped') this.failed.add(row.line);
    if (!after) return;
    for (const { field, identifier } of identifiersOf(after)) {
      if (field === 'external_id') continue;
      // A username of one row may be the e-mail of another: the lowest bit says which it was.
      const place = row.line * 2 + Number(field === 'email');
      const other = this.identifiers.claim(identifier, place);
      const otherLine = other >> 1;
      if (other === 0 || otherLine === row.line) continue;
      const otherField = field === 'authname' ? field : other % 2 === 1 ? 'email' : 'username';
      this.fail(row.line, repeatedError(field, otherLine));
      this.fail(otherLine, repeatedError(otherField, row.line));
    }
    if (!before || row.outcome === 'unchanged') return;
    for (const { identifier } of moved({ before, after, ifVersions: undefined, error: undefined }).given) {
      this.given.set(identifier, row.line);
    }
  }

  /** Takes note of a new manager. @param awaited external id of a manager that only this file may bring. */
  addManager({ row, before, after }: JudgedRow, awaited: string | undefined): void {
    if (!after || !changes(row.changes, 'manager_uuid')) return;
    const manager = after.manager_uuid;
    this.managers.set(row.line, after.uuid, manager, before ? before.manager_uuid : undefined);
    if (awaited !== undefined) {
      this.awaited.lines.push(row.line);
      const [high, low] = this.externalIds.hash(exactKey(awaited));
      this.awaited.high.push(high | 0);
      this.awaited.low.push(low | 0);
    } else if (manager !== null) {
      this.above.add(manager);
    }
    if (before?.manager_uuid) this.above.add(before.manager_uuid);
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

export function repeatedError(field: string, line: number): RowError {
  return { field, code: 'duplicate', message: `stands on line ${line} too` };
}
