import type { ImportRun } from '../runs/import-run.js';
import type { StagedRow } from '../runs/import-row.js';
import type { ManagedUser } from '../../users/search/user-directory.service.js';
import type { MatchedUsers } from './matched-users.js';
import type { KnownWords, UnlistedWords } from '../mapping/unlisted-words.js';

/** Earlier completed runs of the same data set and part, and the reverts in the data set. */
export interface Past {
  /** True for the first file of the data set and part, and for corrections of its rows. */
  isFirst: boolean;
  /** Last run. Undefined before the first run. */
  last: Pick<ImportRun, 'id' | 'guards' | 'line_ended'> | undefined;
  /** Words of completed runs with the same profile, or undefined before the first run. */
  knownWords: KnownWords | undefined;
  /** Last 30 runs that have changed users, newest first. */
  changing: readonly EarlierRun[];
  /** Reverts that were not reverted themselves. */
  reverts: readonly EarlierRun[];
}

type EarlierRun = Pick<ImportRun, 'id' | 'applied_batches' | 'file_sha256'>;

/** A plan whose rows are staged and whose failed rows are known, with everything that guards compare it with. */
export interface Plan {
  /** Number of rows in the file. */
  rows: number;
  /** Facts about the users whom the file lists, collected while their rows were planned. */
  users: MatchedUsers;
  /** Users whom the file lists, and other users of its data set and part. */
  scope: { users: number; active: number };
  /** Roles of new users whose rows have none. */
  defaultRoles: readonly string[];
  /** Words of the file that only `*` of the profile's values matches. */
  words: UnlistedWords;
  past: Past;
  /** True if an earlier file of the data set and part, other than the last one, had the same content. */
  isKnownFile: () => Promise<boolean>;
  /** Reads the rows of this plan that have not failed, and the missing users. */
  readRows: () => AsyncIterable<StagedRow>;
  /** Reads the failed rows of a run. Without a run, of this plan. */
  readFailedRows: (run?: Pick<ImportRun, 'id'>) => AsyncIterable<StagedRow>;
  /** Reads the applied rows of an earlier run. */
  readAppliedRows: (run: EarlierRun) => AsyncIterable<StagedRow>;
  /** Reads the active users of the data set and part. */
  readScope: () => AsyncIterable<readonly ManagedUser[]>;
}

/** Returns true if a row takes access from an active user. */
export const losesAccess = ({ outcome, changes }: StagedRow): boolean =>
  outcome === 'deleted' || outcome === 'blocked' || (outcome === 'missing' && !changes.isEmpty);
