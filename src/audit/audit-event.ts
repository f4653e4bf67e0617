import type { FieldChange } from '../platform/common/field-changes.js';
import type { DbTime } from '../platform/common/time.js';
import { parse, stringify, v7 as uuidv7 } from 'uuid';
import { sha256 } from '../platform/common/secrets.js';

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

/** Ids of audit rows are UUIDs of version 7: their order is the order of their times. */

/** Before and behind every id. */
export const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';
export const BEHIND_ALL = 'ffffffff-ffff-ffff-ffff-ffffffffffff~';

const EVENT_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Whether the service could have made this id. */
export const isEventId = (id: unknown): boolean => typeof id === 'string' && EVENT_ID.test(id);

/** The smallest id of a moment. */
export function firstId(millis: number): string {
  return uuidv7({ msecs: Math.max(0, millis), random: new Uint8Array(16), seq: 0 });
}

/** Less than every id that is greater than `id`, and greater than `id`. For comparisons only. */
export const justBehind = (id: string): string => `${id}0`;

/** How long what is recorded once a minute keeps others of its kind out. */
export const MINUTE_MILLIS = 60_000;

/**
 * The id of what is recorded once a minute: the same for the same `text` in the same minute, on every instance. Its moment
 * is the start of that minute.
 */
export function idOfMinute(text: string, millis: number): string {
  const minute = millis - (millis % MINUTE_MILLIS);
  const bytes = parse(firstId(minute));
  const mark = Buffer.from(sha256(text), 'hex');
  for (let at = 9; at < bytes.length; at++) bytes[at] = mark[at] ?? 0; // behind time, version and variant
  return stringify(bytes);
}
