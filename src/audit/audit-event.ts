import type { FieldChange } from '../platform/common/changes.js';
import type { DbTime } from '../platform/common/time.js';

/** All audited actions. docs/operator.md says of each when it is recorded; a test compares the two. */
export const ACTIONS = [
  'user.created',
  'user.updated',
  'user.blocked',
  'user.reactivated',
  'user.deleted',
  'user.restored',
  'group.created',
  'group.updated',
  'group.deleted',
  'users.exported',
  'session.created',
  'session.ended',
  'session.login_failed',
  'api_key.created',
  'api_key.new_address',
  'api_key.revoked',
  'api_key.fuse_blown',
  'api_key.fuse_reset',
  'import.created',
  'import.approved',
  'import.rejected',
  'import.cancelled',
  'import.reverted',
  'import.completed',
  'import.failed',
  'import.superseded',
  'import_profile.saved',
  'import_profile.deleted',
] as const;
export type AuditAction = (typeof ACTIONS)[number];

export const ACTOR_KINDS = ['key', 'user', 'import', 'system', 'anonymous'] as const;
export const TARGET_KINDS = [
  'user',
  'users',
  'group',
  'session',
  'api_key',
  'import',
  'import_profile',
] as const;

/** The id of a target that is no record: all users, or a name that no user has. */
export const NO_TARGET = '00000000-0000-0000-0000-000000000000';

/** The field under which the reason of a request is stored among its changes. */
export const GIVEN_REASON = 'given_reason';

export type { FieldChange as AuditChange };

/** Someone who acts, without more. The id is null for the service itself and for a client without credentials. */
export interface Party {
  kind: string;
  id: string | null;
}

/** Who is behind the rows of an import. */
export interface People {
  started_by?: Party;
  /** Absent where nobody had to approve it. */
  approved_by?: Party;
}

/** An audit row with its changes parsed. */
export interface AuditRecord {
  id: string;
  time: DbTime;
  /** An import has the people behind it, as far as they are known. */
  actor: Party & People;
  action: AuditAction;
  target: { kind: string; id: string };
  changes: readonly FieldChange[];
  /** Why, in the words of who acted; empty where nothing was said. */
  reason: string;
  request_id: string;
  ip: string;
}
