import type { FieldChange } from '../common/changes.js';
import type { DbTime } from '../common/time.js';

/** All audited actions. */
export const ACTIONS = [
  'user.created',
  'user.updated',
  'user.blocked',
  'user.reactivated',
  'session.created',
  'session.ended',
  'api_key.created',
  'api_key.revoked',
  'api_key.fuse_blown',
  'api_key.fuse_reset',
  'import.approved',
  'import.rejected',
  'import.cancelled',
  'import.reverted',
  'import.completed',
] as const;
export type AuditAction = (typeof ACTIONS)[number];

export const ACTOR_KINDS = ['key', 'user', 'import', 'system'] as const;
export const TARGET_KINDS = ['user', 'session', 'api_key', 'import'] as const;

export type { FieldChange as AuditChange };

/** An audit row with its changes parsed. */
export interface AuditRecord {
  id: string;
  time: DbTime;
  actor: { kind: string; id: string | null };
  action: AuditAction;
  target: { kind: string; id: string };
  changes: readonly FieldChange[];
  request_id: string;
  ip: string;
}
