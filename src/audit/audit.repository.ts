import { Inject, Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Changes } from '../common/changes.js';
import { type DbTime, toMillis } from '../common/time.js';
import { insertRows } from '../database/engine/bulk.js';
import { DATABASE, type Database } from '../database/engine/database.js';
import { type Sql, type SqlValue, placeholders } from '../database/engine/sql.js';
import { AuditEventEntity } from './audit.entity.js';
import type { AuditRecord } from './audit-event.js';
import type { AuditFilter } from './audit.query.js';

/** Rows that one statement looks at, at most: what a filter costs whose index is not used is bounded by it. */
const SCAN = 10_000;
const COLUMNS = 'id, time, actor_kind, actor_id, action, target_kind, target_id, changes, request_id, ip';
/** A row's id is made after its time, in the same moment; a clock may step between the two. */
const SLACK_MILLIS = 60_000;

/** A page of rows. `last` is the oldest row that was looked at, where older ones may follow. */
export interface AuditPage {
  records: AuditRecord[];
  last: string | undefined;
}

/** Hand-written SQL: appends are part of bulk writes, and each page is bounded by the rows that it looks at. */
@Injectable()
export class AuditRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  async append(tx: Sql, events: readonly AuditEventEntity[]): Promise<void> {
    await insertRows(tx, AuditEventEntity, events);
  }

  /** Newest first, below the id `after`. May find fewer than `limit` though there are more: `last` says so. */
  async page(filter: AuditFilter, after: string | undefined, limit: number): Promise<AuditPage> {
    const rest = remaining(filter);
    const { sql, params } = candidates(filter, after, COLUMNS, rest ? SCAN : limit);
    // Thousands of rows are looked at for one that matches.
    const rows = await this.database[rest ? 'aside' : 'query']<AuditEventEntity>(
      rest ? `SELECT * FROM (${sql}) AS candidates WHERE ${rest.sql} LIMIT ?` : sql,
      rest ? [...params, ...rest.params, limit] : params,
    );
    const records = rows.map(toRecord);
    if (records.length === limit) return { records, last: records.at(-1)?.id };
    return { records, last: rest ? await this.lastLookedAt(filter, after) : undefined };
  }

  /** How many match among the newest `SCAN` rows of the leading filter. */
  async count(filter: AuditFilter): Promise<number> {
    const rest = remaining(filter);
    const columns = rest ? 'actor_kind, actor_id, action, changes' : 'id';
    const { sql, params } = candidates(filter, undefined, columns, SCAN);
    const [row] = await this.database[rest ? 'aside' : 'query']<{ count: number }>(
      `SELECT COUNT(*) AS count FROM (${sql}) AS candidates${rest ? ` WHERE ${rest.sql}` : ''}`,
      [...params, ...(rest?.params ?? [])],
    );
    return row?.count ?? 0;
  }

  /** Deletes the oldest rows before a time. @returns how many, at most `limit`. */
  async deleteBefore(time: DbTime, limit: number): Promise<number> {
    // Up to a known id: for a list of them, or a subquery, MariaDB scans the whole table.
    const [oldest] = await this.database.query<{ last: string | null }>(
      'SELECT MAX(id) AS last FROM (SELECT id FROM audit_events WHERE id < ? ORDER BY id LIMIT ?) AS oldest',
      [firstId(toMillis(time)), limit],
    );
    if (!oldest?.last) return 0;
    return this.database.execute('DELETE FROM audit_events WHERE id <= ?', [oldest.last]);
  }

  /** undefined where all rows have been looked at. */
  private async lastLookedAt(filter: AuditFilter, after: string | undefined): Promise<string | undefined> {
    const { sql, params } = candidates(filter, after, 'id', SCAN);
    const [row] = await this.database.aside<{ looked: number; last: string | null }>(
      `SELECT COUNT(*) AS looked, MIN(id) AS last FROM (${sql}) AS candidates`,
      params,
    );
    return row?.looked === SCAN ? (row.last ?? undefined) : undefined;
  }
}

/** The one filter whose index is used: an engine that chose among several would not know which of them leaves few rows. */
function leading({ target, actor, action }: AuditFilter): 'target' | 'actor' | 'action' | undefined {
  if (target !== undefined) return 'target';
  if (actor !== undefined) return 'actor';
  return action && 'action';
}

/** The newest rows of the leading filter within the requested time. */
function candidates(
  filter: AuditFilter,
  after: string | undefined,
  columns: string,
  limit: number,
): { sql: string; params: SqlValue[] } {
  const parts: string[] = [];
  const params: SqlValue[] = [];
  const where = (part: string, ...values: SqlValue[]): void => {
    parts.push(part);
    params.push(...values);
  };
  const { since, until } = filter;
  const lead = leading(filter);
  for (const { name, sql, values } of comparisons(filter)) if (name === lead) where(sql, ...values);
  if (since !== undefined) where('id >= ? AND time >= ?', firstId(toMillis(since)), since);
  if (until !== undefined) where('id < ? AND time < ?', firstId(toMillis(until) + SLACK_MILLIS), until);
  if (after !== undefined) where('id < ?', after.toLowerCase());
  const condition = parts.length > 0 ? ` WHERE ${parts.join(' AND ')}` : '';
  return {
    sql: `SELECT ${columns} FROM audit_events${condition} ORDER BY id DESC LIMIT ?`,
    params: [...params, limit],
  };
}

/** The other filters, which are applied to the candidates. */
function remaining(filter: AuditFilter): { sql: string; params: SqlValue[] } | undefined {
  const lead = leading(filter);
  const parts = comparisons(filter).filter(({ name }) => name !== lead);
  if (parts.length === 0) return undefined;
  return { sql: parts.map(({ sql }) => sql).join(' AND '), params: parts.flatMap(({ values }) => values) };
}

function comparisons({ target, actor, action, actor_kind, field }: AuditFilter) {
  const comparison = (name: string, sql: string, value: string | undefined) =>
    value === undefined ? [] : [{ name, sql, values: [value] }];
  return [
    ...comparison('target', 'target_id = ?', target?.toLowerCase()),
    ...comparison('actor', 'actor_id = ?', actor?.toLowerCase()),
    ...(action
      ? [{ name: 'action', sql: `action IN (${placeholders(action.length)})`, values: action }]
      : []),
    ...comparison('actor_kind', 'actor_kind = ?', actor_kind),
    ...(field === undefined
      ? []
      : [
          {
            name: 'field',
            sql: '(changes LIKE ? OR changes LIKE ?)',
            values: likes(Changes.mentions(field)),
          },
        ]),
  ];
}

const likes = (pieces: readonly string[]): string[] => pieces.map((piece) => `%${piece}%`);

/** The smallest id of a moment. */
const firstId = (millis: number): string =>
  uuidv7({ msecs: Math.max(0, millis), random: new Uint8Array(16), seq: 0 });

function toRecord(row: AuditEventEntity): AuditRecord {
  return {
    id: row.id,
    time: row.time,
    actor: { kind: row.actor_kind, id: row.actor_id },
    action: row.action,
    target: { kind: row.target_kind, id: row.target_id },
    changes: Changes.read(row.changes).list,
    request_id: row.request_id,
    ip: row.ip,
  };
}
