import { createHash } from 'node:crypto';
import { WEBMASTER } from '../../access/roles.js';
import { type UserScope, isInScope } from '../../users/directory/user-scope.js';
import type { User } from '../../users/model/user.js';
import type { StagedRow } from '../runs/import-row.js';
import type { PlanNumbers } from './guards.js';
import type { PlannedRow } from './row-rules.js';

const PRINT_CHARACTERS = 64 * 1024;

/** The numbers of a plan for its guards, and its fingerprint, taken while the rows pass by. */
export class PlanTally {
  rows = 0;
  unchanged = 0;
  matched = 0;
  /** Users of the data set in the file; without their rows they would be missing. */
  inScope = 0;
  private activeMatched = 0;
  private newKeys = 0;
  private clashes = 0;
  private usernamesChanged = 0;
  private emailsChanged = 0;
  private readonly emptied: Record<string, number> = {};
  private readonly hash = createHash('sha256');
  /** What the hash has yet to take: a call for each row costs more than its work. */
  private printed = '';

  add({ row, before }: PlannedRow): void {
    this.rows++;
    if (row.outcome === 'unchanged') this.unchanged++;
    if (before) {
      this.matched++;
      if (before.status === 'Active') this.activeMatched++;
    } else if (row.outcome === 'created') {
      this.newKeys++;
    }
    if (before) this.countChanges(row);
    this.print(row);
  }

  private countChanges({ changes }: StagedRow): void {
    for (const { field, old, new: value } of changes.list) {
      if (isEmpty(value) && !isEmpty(old)) this.emptied[field] = (this.emptied[field] ?? 0) + 1;
      if (field === 'username') this.usernamesChanged++;
      if (field === 'email') this.emailsChanged++;
    }
  }

  /** The user of the first row with an ExternalId, whatever the outcome of the row. */
  countInScope(user: User, scope: UserScope): void {
    if (isInScope(scope, user) && user.status === 'Active' && !user.roles.includes(WEBMASTER)) this.inScope++;
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

  numbers(rest: {
    errors: number;
    blocked: number;
    reactivations: number;
    missing: number;
    missingBlocked: number;
    lastRows: number | null;
  }): PlanNumbers {
    return {
      rows: this.rows,
      matched: this.matched,
      errors: rest.errors,
      activeInScope: this.activeMatched + rest.missing,
      linked: this.matched + rest.missing,
      deactivations: rest.blocked + rest.missingBlocked,
      reactivations: rest.reactivations,
      newKeys: this.newKeys,
      lostKeys: rest.missing + this.clashes,
      emptied: this.emptied,
      usernamesChanged: this.usernamesChanged,
      emailsChanged: this.emailsChanged,
      lastRows: rest.lastRows,
    };
  }
}

function isEmpty(value: unknown): boolean {
  if (value === '' || value === null || value === undefined || value === false) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
