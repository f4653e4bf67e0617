import type { Changes } from '../../platform/common/changes.js';
import type { User } from '../model/user.js';
import type { UserPatch } from '../rules/user-rules.js';
import type { Claim } from '../set-rules/claim.js';
import type { Failure } from '../set-rules/failure.js';
import type { PreparedUser } from './prepared-user.js';

export interface UserChange {
  /** `delete` moves the user to `deleted_users`, `restore` takes it back from there; both have an empty patch. */
  kind: 'create' | 'update' | 'delete' | 'restore';
  /** Of the user to change, or that the new user gets. At most one change a user in a set. */
  uuid: string;
  patch: UserPatch;
  /** The versions that the client may have read (`If-Match`); with any other one the change is refused. */
  ifVersions?: readonly number[];
  /** An identity provider changes the user: of Webmasters it may change less than they are protected in (`privilege.ts`). */
  byProvider?: boolean;
  /** Of a new user: what its patch makes, where the caller has prepared it. */
  prepared?: PreparedUser;
  /** The user as `UserWriter.lock` gave it in this transaction, which then is not read again. */
  locked?: User;
}

/** What became of one change. */
export type Outcome =
  /** Of a deleted user: the user as it was. */
  | { outcome: 'created' | 'updated' | 'unchanged' | 'deleted' | 'restored'; user: User; changes: Changes }
  | { outcome: 'error'; failures: readonly Failure[] };

/** A change with the state before it (none for a new user) and after it, and why it may not be made. */
export interface JudgedChange {
  kind: UserChange['kind'];
  before: User | undefined;
  /** Of a deleted user: as it was. */
  after: User;
  /** Of a new or restored user. */
  prepared?: PreparedUser | undefined;
  /** None for a change that touches no other user. */
  claim?: Claim | undefined;
  failures: readonly Failure[];
}
