import { createHash } from 'node:crypto';
import type { UserScope } from '../../users/search/user-scope.js';
import { isWebmasterUser } from '../../users/rules/user-rules.js';
import type { User } from '../../users/model/user.js';
import type { StagedRow } from '../runs/import-row.js';
import { ChangeSet } from './change-set.js';
import { Examples } from '../guards/guard-examples.js';
import type { PlannedRow } from './row-rules.js';
import { ShapeTally } from '../guards/shape-tally.js';

const PRINT_CHARACTERS = 64 * 1024;
/** Users whose values are looked at: the first ones, then each of so many. */
const FIRST_SAMPLED = 1000;
const SAMPLED_EACH = 64;

/** The numbers and the shape of a plan for its guards, and its fingerprint, taken while the rows pass by. */
export class PlanTally {
  rows = 0;
  unchanged = 0;
  matched = 0;
  /** Part ('' for none) → its users in the file; without their rows they would be missing. */
  readonly listed = new Map<string, number>();
  activeMatched = 0;
  /** Rows whose ExternalId is nobody's, and the names that such rows take from users of other ones. */
  newKeys = 0;
  clashes = 0;
  /** Matched users of other data sets. */
  foreign = 0;
  readonly foreignRows = new Examples();
  readonly shape = new ShapeTally();
  /** The changes of users, where they are to be compared with those of earlier runs. */
  changes: ChangeSet | undefined;
  private readonly hash = createHash('sha256');
  /** What the hash has yet to take: a call for each row costs more than its work. */
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

  /** Takes back what a row did to the shape: it has failed after all. */
  withdraw(row: StagedRow): void {
    this.shape.remove(row);
    if (row.outcome === 'created' || row.userUuid === null) return;
    for (const { field, new: value } of row.changes.list) this.changes?.remove(row.userUuid, field, value);
  }

  /** A user that the file lacks. */
  addMissing({ userUuid, changes, line }: StagedRow): void {
    if (!changes.isEmpty && userUuid !== null) this.changes?.add(userUuid, 'status', 'Blocked', line);
  }

  private addShape(row: StagedRow): void {
    this.shape.add(row);
    if (!this.changes || row.outcome === 'created' || row.userUuid === null) return;
    for (const { field, new: value } of row.changes.list)
      this.changes.add(row.userUuid, field, value, row.line);
  }

  /** The user of the first row with an ExternalId, whatever the outcome of the row. */
  countListed(user: User, scope: UserScope, line: number): void {
    if (user.managed_by === scope.dataset) {
      const part = user.managed_part ?? '';
      if (user.status === 'Active' && !isWebmasterUser(user))
        this.listed.set(part, (this.listed.get(part) ?? 0) + 1);
    } else if (user.managed_by !== null) {
      this.foreign++;
      const { external_id: externalId, managed_by: old } = user;
      this.foreignRows.add(() => ({ line, externalId, old, new: scope.dataset }));
    }
  }

  /** Names of a new user that belong to users of other external ids. */
  addClashes(count: number): void {
    this.clashes += count;
  }

  /** Part of the fingerprint: two plans with the same one do the same. */
  print(row: StagedRow): void {
    const { line, outcome, externalId, userUuid, changes, errors } = row;
    const { length } = externalId; // it may hold any character, the others hold none of these separators
    this.printed += `${line} ${outcome} ${userUuid} ${length} ${externalId}${changes.text}${JSON.stringify(errors)}`;
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
