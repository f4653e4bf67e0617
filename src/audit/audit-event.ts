import type { FieldChange } from '../platform/common/field-changes.js';
import type { DbTime } from '../platform/common/time.js';
import { hash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';

/** All audited actions. docs/operator.md describes when each one is recorded, and a test compares both lists. */
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
  'import.file_added',
  'import.files_taken',
  'import_profile.saved',
  'import_profile.deleted',
  'database.restored',
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
  'installation',
] as const;

/** Target id of events that concern all users or an unknown username. */
export const NO_TARGET = '00000000-0000-0000-0000-000000000000';

/** Field name of the reason of a request in an audit event. */
export const REASON_FIELD = 'given_reason';

export type { FieldChange as AuditChange };

/** Actor or target of an event. The id is null for the service itself and for clients without credentials. */
export interface Party {
  kind: string;
  id: string | null;
  /** Name of an actor without an id: the user of the operating system who ran a command, such as `unix:alice`. */
  name?: string;
}

export interface RunParties {
  started_by?: Party;
  /** Party that approved the run. Absent if the run needed no approval. */
  approved_by?: Party;
}

export interface AuditRecord {
  id: string;
  time: DbTime;
  /** Actor of the event. For an import, also the parties that started and approved it, if known. */
  actor: Party & RunParties;
  action: AuditAction;
  target: { kind: string; id: string };
  changes: readonly FieldChange[];
  /** Reason given in the request. Empty if the request has none. */
  reason: string;
  request_id: string;
  ip: string;
}

/** Inclusive lower bound of all event ids. Event ids are UUIDs of version 7, so they sort by time. */
export const MIN_ID = '00000000-0000-0000-0000-000000000000';
/** Exclusive upper bound of all event ids. */
export const MAX_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff~';

const EVENT_ID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export const isEventId = (id: unknown): boolean => typeof id === 'string' && EVENT_ID_PATTERN.test(id);

/** Returns the smallest possible event id for a time in milliseconds. */
export function toFirstId(millis: number): string {
  return uuidv7({ msecs: Math.max(0, millis), random: new Uint8Array(16), seq: 0 });
}

/** Returns an exclusive upper bound for a range of ids that ends with `id`. The bound is not a valid id. */
export const toExclusiveBound = (id: string): string => `${id}0`;

/** Period within which repeated events, such as failed logins, are recorded only once. */
export const MINUTE_MILLIS = 60_000;

/**
 * Creates the id of an event that is recorded at most once a minute. All instances create the same id for the same
 * `eventKey` and minute. The time in the id is the start of the minute.
 */
export function createMinuteId(eventKey: string, millis: number): string {
  const minute = millis - (millis % MINUTE_MILLIS);
  return uuidv7({ msecs: minute, random: hash('sha256', eventKey, 'buffer') });
}
