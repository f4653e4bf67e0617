import { Changes } from '../platform/common/changes.js';
import { toMillis } from '../platform/common/time.js';
import { type SqlValue, placeholders } from '../platform/database/engine/sql.js';
import type { AuditFilter } from './audit.query.js';
import { BEFORE_ALL, BEHIND_ALL, firstId } from './event-id.js';

/** A part of a WHERE clause with its values. */
export interface Condition {
  sql: string;
  params: SqlValue[];
}

/** A filter that an index finds. */
export interface Lead {
  column: 'target_id' | 'actor_id' | 'action';
  values: readonly string[];
}

/** Ids from `low` to `high`, which is exclusive. */
export interface Range {
  low: string;
  high: string;
}

const INDEXES = {
  target_id: 'ix_audit_events_target',
  actor_id: 'ix_audit_events_actor',
  action: 'ix_audit_events_action',
} as const;

export const indexOf = ({ column }: Lead): string => INDEXES[column];

/** The imports that a person has started or approved. */
export const PEOPLES_RUNS = 'SELECT DISTINCT run_id FROM audit_runs WHERE person_id = ?';

/** Ids are made at the time of their rows, which is therefore a range of them. */
export function rangeOf({ since, until }: AuditFilter, after: string | undefined): Range {
  const ends = [
    ...(until === undefined ? [] : [firstId(toMillis(until))]),
    ...(after === undefined ? [] : [after.toLowerCase()]),
  ].sort();
  return { low: since === undefined ? BEFORE_ALL : firstId(toMillis(since)), high: ends[0] ?? BEHIND_ALL };
}

/** The filters that an index finds. */
export function leadsOf({ target, actor, action }: AuditFilter): Lead[] {
  return [
    ...(target === undefined ? [] : [{ column: 'target_id' as const, values: [target.toLowerCase()] }]),
    ...(actor === undefined ? [] : [{ column: 'actor_id' as const, values: [actor.toLowerCase()] }]),
    ...(action ? [{ column: 'action' as const, values: [...new Set(action)] }] : []),
  ];
}

/** The filters beside the lead, as one condition; undefined where there are none. */
export function restOf(filter: AuditFilter, lead: Lead | undefined): Condition | undefined {
  const others = leadsOf(filter).filter(({ column }) => column !== lead?.column);
  const conditions = [...others.map(comparison), ...unindexed(filter)];
  if (conditions.length === 0) return undefined;
  return {
    sql: conditions.map(({ sql }) => `(${sql})`).join(' AND '),
    params: conditions.flatMap(({ params }) => params),
  };
}

function comparison({ column, values }: Lead): Condition {
  const equal = { sql: `${column} IN (${placeholders(values.length)})`, params: [...values] };
  if (column !== 'actor_id') return equal;
  const [person = ''] = values;
  return { sql: `${equal.sql} OR actor_id IN (${PEOPLES_RUNS})`, params: [...equal.params, person] };
}

function unindexed({ actor_kind, field }: AuditFilter): Condition[] {
  const mentions = field === undefined ? [] : Changes.mentions(field).map((piece) => `%${piece}%`);
  return [
    ...(actor_kind === undefined ? [] : [{ sql: 'actor_kind = ?', params: [actor_kind] }]),
    ...(mentions.length === 0
      ? []
      : [{ sql: mentions.map(() => 'changes LIKE ?').join(' OR '), params: mentions }]),
  ];
}
