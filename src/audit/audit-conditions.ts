import { Changes } from '../platform/common/changes.js';
import { toMillis } from '../platform/common/time.js';
import { type Clause, clause, joinClauses, placeholders } from '../platform/database/engine/sql.js';
import type { AuditFilter } from './audit.query.js';
import { BEFORE_ALL, BEHIND_ALL, firstId } from './event-id.js';

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
export function restOf(filter: AuditFilter, lead: Lead | undefined): Clause | undefined {
  const others = leadsOf(filter).filter(({ column }) => column !== lead?.column);
  const conditions = [...others.map(comparison), ...unindexed(filter)];
  if (conditions.length === 0) return undefined;
  const bracketed = conditions.map(({ sql, params }) => clause(`(${sql})`, ...params));
  return joinClauses(bracketed, ' AND ');
}

function comparison({ column, values }: Lead): Clause {
  const equal = clause(`${column} IN (${placeholders(values.length)})`, ...values);
  if (column !== 'actor_id') return equal;
  const [person = ''] = values;
  return clause(`${equal.sql} OR actor_id IN (${PEOPLES_RUNS})`, ...equal.params, person);
}

function unindexed({ actor_kind, field }: AuditFilter): Clause[] {
  const mentions = field === undefined ? [] : Changes.mentions(field).map((piece) => `%${piece}%`);
  return [
    ...(actor_kind === undefined ? [] : [clause('actor_kind = ?', actor_kind)]),
    ...(mentions.length === 0
      ? []
      : [clause(mentions.map(() => 'changes LIKE ?').join(' OR '), ...mentions)]),
  ];
}
