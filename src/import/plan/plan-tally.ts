import { createHash } from 'node:crypto';
import type { User } from '../../users/model/user.js';
import type { UserScope } from '../../users/search/user-scope.js';
import { isWebmasterUser } from '../../users/rules/user-rules.js';
import { type StagedRow, createsBlocked } from '../runs/import-row.js';

/** Numbers and fingerprint of a plan, collected while its rows are planned. */
export class PlanTally {
  rows = 0;
  unchanged = 0;
  /** Number of new users whose status is Blocked. */
  createdBlocked = 0;
  /** Number of active users in the file by part. Users without a part are counted under an empty string. */
  readonly listed = new Map<string, number>();
  private readonly hash = createHash('sha256');

  add(row: StagedRow): void {
    this.rows++;
    if (row.outcome === 'unchanged') this.unchanged++;
    if (createsBlocked(row)) this.createdBlocked++;
    this.print(row);
  }

  /** Counts a user who is listed in the file, even if the row fails. Call it once per ExternalId, for its first row. */
  countListed(user: User, { dataset }: UserScope): void {
    if (user.managed_by !== dataset || user.status !== 'Active' || isWebmasterUser(user)) return;
    const part = user.managed_part ?? '';
    this.listed.set(part, (this.listed.get(part) ?? 0) + 1);
  }

  /** Adds a row to the fingerprint of the plan. Plans with the same fingerprint make the same changes. */
  print(row: StagedRow): void {
    const { line, outcome, external_id, user_uuid, changes, errors } = row;
    // The external_id may contain the separators, so its length is hashed too.
    const { length } = external_id;
    this.hash.update(
      `${line} ${outcome} ${user_uuid} ${length} ${external_id}${changes.text}${JSON.stringify(errors)}`,
    );
  }

  fingerprint(): string {
    return this.hash.copy().digest('hex');
  }
}
