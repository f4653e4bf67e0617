import { Changes } from '../platform/common/field-changes.js';
import { toMillis } from '../platform/common/time.js';
import {
  byIndex,
  type Clause,
  clause,
  joinClauses,
  joinInOrder,
  placeholders,
  where,
} from '../platform/database/engine/sql.js';
import type { AuditFilter } from './audit.query.js';
import { BEFORE_ALL, BEHIND_ALL, firstId, justBehind } from './audit-event.js';
import { Inject, Injectable } from '@nestjs/common';
import { setImmediate } from 'node:timers/promises';
import { DATABASE, type Database } from '../platform/database/engine/database.js';
import type { AuditEventEntity } from './audit.entity.js';

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

const indexOf = ({ column }: Lead): string => INDEXES[column];

/** The imports that a person has started or approved. */
const PEOPLES_RUNS = 'SELECT DISTINCT run_id FROM audit_runs WHERE person_id = ?';

/** Ids are made at the time of their rows, which is therefore a range of them. */
function rangeOf({ since, until }: AuditFilter, after: string | undefined): Range {
  const end = until === undefined ? BEHIND_ALL : firstId(toMillis(until));
  const last = after?.toLowerCase() ?? BEHIND_ALL;
  return { low: since === undefined ? BEFORE_ALL : firstId(toMillis(since)), high: last < end ? last : end };
}

/** The filters that an index finds. */
function leadsOf({ target, actor, action }: AuditFilter): Lead[] {
  return [
    ...(target === undefined ? [] : [{ column: 'target_id' as const, values: [target.toLowerCase()] }]),
    ...(actor === undefined ? [] : [{ column: 'actor_id' as const, values: [actor.toLowerCase()] }]),
    ...(action ? [{ column: 'action' as const, values: [...new Set(action)] }] : []),
  ];
}

/** The filters beside the lead, as one condition; undefined where there are none. */
function restOf(filter: AuditFilter, lead: Lead | undefined): Clause | undefined {
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

/** Rows that one statement looks at, where conditions remain that no index pays for. */
const PART = 500;
/** Rows that are counted; and parts that are looked at for that. */
const MAX_COUNT = 1000;
const MAX_COUNT_PARTS = 10;
const COLUMNS = 'id, time, actor_kind, actor_id, action, target_kind, target_id, changes, request_id, ip';

/** Rows of one value of an index. All of them from `below` on have been seen. */
interface Source {
  condition: Clause | undefined;
  index: string | undefined;
  below: string;
}

/** Rows that match, or columns of them. */
type Rows = AuditEventEntity[];

/**
 * Finds audit rows, newest first. Each statement reads rows of one index only, so that its cost has a bound: the rows of
 * several values (actions, or the imports of a person) are merged here by their ids. Where an index does not pay for all
 * conditions, the walk goes on part by part.
 */
@Injectable()
export class AuditWalkRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /**
   * All rows of the filter with ids less than `after`, as they are found. May yield nothing for a part in which nothing
   * matches, so that a caller can stop. @param size rows that are wanted at once.
   */
  async *walk(
    filter: AuditFilter,
    after: string | undefined,
    size: number,
    columns = COLUMNS,
  ): AsyncGenerator<Rows> {
    const range = rangeOf(filter, after);
    const lead = await this.leadOf(filter, range);
    const rest = restOf(filter, lead);
    const sources = await this.sourcesOf(lead, range);
    let found: Rows = [];
    while (sources.length > 0) {
      const source = sources.reduce((a, b) => (b.below > a.below ? b : a));
      const { rows, ended } = rest
        ? await this.part(source, range, rest, size, columns)
        : await this.page(source, range, size, columns);
      found.push(...rows);
      if (ended) sources.splice(sources.indexOf(source), 1);
      // No source has an unseen row from here on.
      const seen = sources.reduce((most, { below }) => (below > most ? below : most), '');
      const ready = found.filter(({ id }) => id >= seen);
      found = found.filter(({ id }) => id < seen);
      yield ready.sort((a, b) => (a.id < b.id ? 1 : -1));
      // SQLite may answer at once, again and again: other requests get their turn.
      if (rest) await setImmediate();
    }
  }

  /** How many rows match; `exact` is false where there may be more. */
  async count(filter: AuditFilter): Promise<{ count: number; exact: boolean }> {
    const range = rangeOf(filter, undefined);
    const lead = await this.leadOf(filter, range);
    if (!restOf(filter, lead)) {
      const count = await this.countLead(lead, range);
      return { count, exact: count < MAX_COUNT };
    }
    let count = 0;
    let parts = 0;
    for await (const rows of this.walk(filter, undefined, MAX_COUNT, 'id')) {
      count += rows.length;
      if (count >= MAX_COUNT) return { count: MAX_COUNT, exact: false };
      if (++parts > MAX_COUNT_PARTS) return { count, exact: false };
    }
    return { count, exact: true };
  }

  /** Of the filters that have an index the one with the fewest rows: an engine that chose would not know. */
  private async leadOf(filter: AuditFilter, range: Range): Promise<Lead | undefined> {
    const leads = leadsOf(filter);
    if (leads.length <= 1) return leads[0];
    let best: { lead: Lead; count: number } | undefined;
    for (const lead of leads) {
      const count = await this.countLead(lead, range);
      if (!best || count < best.count) best = { lead, count };
    }
    return best?.lead;
  }

  /** Rows of the lead, at most `MAX_COUNT`. */
  private async countLead(lead: Lead | undefined, range: Range): Promise<number> {
    let count = 0;
    for (const value of lead?.values ?? [undefined]) {
      const { sql, params } = candidates(this.database, sourceOf(lead, value, range), range, 'id');
      count += (await this.database.query(sql, [...params, MAX_COUNT - count])).length;
      if (count >= MAX_COUNT) return count;
    }
    if (lead?.column !== 'actor_id') return count;
    const [person = ''] = lead.values;
    const sql = `SELECT e.id FROM (${PEOPLES_RUNS}) AS runs
      ${joinInOrder(this.database)} audit_events AS e${byIndex(this.database, indexOf(lead))} ON e.actor_id = runs.run_id
      WHERE e.id >= ? AND e.id < ? LIMIT ?`;
    const rows = await this.database.query(sql, [person, range.low, range.high, MAX_COUNT - count]);
    return count + rows.length;
  }

  private async sourcesOf(lead: Lead | undefined, range: Range): Promise<Source[]> {
    const sources = (lead?.values ?? [undefined]).map((value) => sourceOf(lead, value, range));
    if (lead?.column !== 'actor_id') return sources;
    const [person = ''] = lead.values;
    // A look-up for each import that this person has started or approved.
    const runs = await this.database.aside<{ run_id: string; newest: string | null }>(
      `SELECT run_id, (SELECT e.id FROM audit_events AS e${byIndex(this.database, indexOf(lead))}
         WHERE e.actor_id = runs.run_id AND e.id < ? ORDER BY e.id DESC LIMIT 1) AS newest
       FROM (${PEOPLES_RUNS}) AS runs`,
      [range.high, person],
    );
    const others = runs.flatMap(({ run_id, newest }) =>
      newest === null || newest < range.low
        ? []
        : [sourceOf(lead, run_id, { ...range, high: justBehind(newest) })],
    );
    return [...sources, ...others];
  }

  /** The next rows of a source to which no other conditions apply. */
  private async page(
    source: Source,
    range: Range,
    size: number,
    columns: string,
  ): Promise<{ rows: Rows; ended: boolean }> {
    const { sql, params } = candidates(this.database, source, range, columns);
    const rows = await this.database.query<AuditEventEntity>(sql, [...params, size]);
    source.below = rows.at(-1)?.id ?? source.below;
    return { rows, ended: rows.length < size };
  }

  /** What matches among the next rows of a source. */
  private async part(
    source: Source,
    { low }: Range,
    rest: Clause,
    size: number,
    columns: string,
  ): Promise<{ rows: Rows; ended: boolean }> {
    const looked = candidates(this.database, source, { low, high: source.below }, 'id');
    const [bound] = await this.database.aside<{ looked: number; last: string | null }>(
      `SELECT COUNT(*) AS looked, MIN(id) AS last FROM (${looked.sql}) AS part`,
      [...looked.params, PART],
    );
    if (!bound?.last) return { rows: [], ended: true };
    const range = { low: bound.last, high: source.below };
    const { sql, params } = candidates(this.database, source, range, columns, rest);
    const rows = await this.database.aside<AuditEventEntity>(sql, [...params, size]);
    const full = rows.length === size;
    source.below = (full ? rows.at(-1)?.id : undefined) ?? bound.last;
    return { rows, ended: !full && bound.looked < PART };
  }
}

function sourceOf(lead: Lead | undefined, value: string | undefined, { high }: Range): Source {
  const condition = lead && value !== undefined ? clause(`${lead.column} = ?`, value) : undefined;
  return { condition, index: lead && indexOf(lead), below: high };
}

/** The statement of the newest rows of a source within a range; its last value is still to be given: their number. */
function candidates(
  database: Database,
  { condition, index, below }: Source,
  { low }: Range,
  columns: string,
  rest?: Clause,
): Clause {
  const inRange = clause('id >= ? AND id < ?', low, below);
  const { sql, params } = where([...(condition ? [condition] : []), inRange, ...(rest ? [rest] : [])]);
  const hint = index === undefined ? '' : byIndex(database, index);
  return clause(
    `SELECT ${columns} FROM audit_events${hint} WHERE ${sql} ORDER BY id DESC LIMIT ?`,
    ...params,
  );
}
