import type { ProblemError } from '../../common/errors.js';
import type { FieldChange } from '../model/differences.js';
import type { User } from '../model/user.js';
import { type UserPatch, isActiveWebmaster } from '../input/user-rules.js';

export interface UserChange {
  kind: 'create' | 'update';
  /** Of the user to change, or that the new user gets. At most one change a user in a set. */
  uuid: string;
  patch: UserPatch;
  /** The versions that the client may have read (`If-Match`); with any other one the change is refused. */
  ifVersions?: readonly number[];
}

/** The fate of one change. */
export type Outcome =
  | { outcome: 'created' | 'updated' | 'unchanged'; user: User; changes: FieldChange[] }
  | { outcome: 'error'; error: ProblemError };

/** A change of one user in a set, before it is written: the state before (none for a new user) and after. */
export interface Draft {
  before: User | undefined;
  after: User;
  ifVersions: readonly number[] | undefined;
  error: ProblemError | undefined;
}

/** +1 for a new active Webmaster, -1 for one who ceases to be, 0 for everybody else. */
export function webmasterDelta({ before, after, error }: Draft): number {
  if (error) return 0;
  return Number(isActiveWebmaster(after)) - Number(before !== undefined && isActiveWebmaster(before));
}
