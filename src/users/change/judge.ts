import { ProblemError } from '../../common/errors.js';
import { markConflicts } from './conflicts.js';
import { markManagers } from './managers.js';
import { type Draft, webmasterDelta } from './change-set.js';

/** What the database says about a set, read after the rows that it changes are locked. */
export interface Facts {
  /** Who holds the identifiers that the set takes. */
  owners: ReadonlyMap<string, string>;
  /** The manager of everybody above the users of the set. */
  managers: ReadonlyMap<string, string | null>;
  /** How many active Webmasters there are, where the set takes one away. */
  webmasters: number;
}

/**
 * Marks the drafts that may not stand at the end of the set. One that fails keeps what it had (a username, a place
 * above somebody, the last Webmaster's role), which may fail others: repeated until nothing new fails.
 */
export function judge(drafts: readonly Draft[], facts: Facts): void {
  let failed = true;
  while (failed) {
    failed = [
      markManagers(drafts, facts.managers),
      markConflicts(drafts, facts.owners),
      markLastWebmaster(drafts, facts.webmasters),
      markVersions(drafts),
    ].includes(true);
  }
}

function markLastWebmaster(drafts: readonly Draft[], now: number): boolean {
  const leaving = drafts.filter((draft) => webmasterDelta(draft) < 0);
  const coming = drafts.filter((draft) => webmasterDelta(draft) > 0).length;
  const tooMany = leaving.slice(Math.max(0, now + coming - 1));
  for (const draft of tooMany) {
    draft.error = new ProblemError('last_webmaster', 'This user is the last active Webmaster.');
  }
  return tooMany.length > 0;
}

function markVersions(drafts: readonly Draft[]): boolean {
  const stale = drafts.filter(
    ({ error, before, ifVersions }) =>
      !error && ifVersions && !(before && ifVersions.includes(before.version)),
  );
  for (const draft of stale) {
    draft.error = new ProblemError('precondition_failed', 'The user has changed since it was read.');
  }
  return stale.length > 0;
}
