import { Changes } from '../platform/common/field-changes.js';
import { toMillis } from '../platform/common/time.js';
import {
  indexHintOf,
  type Clause,
  type Sql,
  toClause,
  orderedJoinOperatorOf,
  selectWhereIn,
  toPlaceholders,
  buildWhere,
} from '../platform/database/engine/sql.js';
import type { AuditFilter } from './audit.query.js';
import { MIN_ID, MAX_ID, isEventId, toFirstId, toExclusiveBound } from './audit-event.js';
import { Inject, Injectable } from '@nestjs/common';
import { setImmediate } from 'node:timers/promises';
import { DATABASE, type Database } from '../platform/database/engine/database.js';
import type { AuditEventEntity } from './audit.entity.js';

export interface IndexedFilter {
  column: 'target_id' | 'actor_id' | 'action';
  values: readonly string[];
}

/** Range of event ids. `low` is inclusive, `high` is exclusive. */
export interface IdRange {
  low: string;
  high: string;
}

const INDEXES = {
  target_id: 'ix_audit_events_target',
  actor_id: 'ix_audit_events_actor',
  action: 'ix_audit_events_action',
} as const;

const indexNameOf = ({ column }: IndexedFilter): string => INDEXES[column];

/** Condition for the events that record who started or approved an import. */
const IS_RUN_STEP = "action IN ('import.created', 'import.approved')";

/**
 * Builds the SELECT for the imports that a user or an API key started or approved. Reads the events of all imports,
 * because one user or key may have many more events than there are imports.
 */
const buildRunsOfPerson = (sql: Sql): string =>
  `SELECT DISTINCT target_id AS run_id FROM audit_events${indexHintOf(sql, INDEXES.action)}
   WHERE ${IS_RUN_STEP} AND actor_id = ?`;

/** Converts the time range and the cursor of a query to a range of event ids. */
function toIdRange({ since, until }: AuditFilter, after: string | undefined): IdRange {
  const end = until === undefined ? MAX_ID : toFirstId(toMillis(until));
  const last = after?.toLowerCase() ?? MAX_ID;
  return { low: since === undefined ? MIN_ID : toFirstId(toMillis(since)), high: last < end ? last : end };
}

function toIndexedFilters({ target, actor, action }: AuditFilter): IndexedFilter[] {
  return [
    ...(target === undefined ? [] : [{ column: 'target_id' as const, values: [target.toLowerCase()] }]),
    ...(actor === undefined ? [] : [{ column: 'actor_id' as const, values: [actor.toLowerCase()] }]),
    ...(action ? [{ column: 'action' as const, values: [...new Set(action)] }] : []),
  ];
}

function buildOtherConditions(sql: Sql, filter: AuditFilter, chosen: IndexedFilter | undefined): Clause[] {
  const others = toIndexedFilters(filter).filter(({ column }) => column !== chosen?.column);
  const conditions = [...others.map((each) => toCondition(sql, each)), ...toUnindexedConditions(filter)];
  return conditions.map(({ sql, params }) => toClause(`(${sql})`, ...params));
}

function toCondition(database: Sql, { column, values }: IndexedFilter): Clause {
  const equal = toClause(`${column} IN (${toPlaceholders(values.length)})`, ...values);
  if (column !== 'actor_id') return equal;
  const [party = ''] = values;
  return toClause(`${equal.sql} OR actor_id IN (${buildRunsOfPerson(database)})`, ...equal.params, party);
}

function toUnindexedConditions({ actor_kind, field }: AuditFilter): Clause[] {
  const patterns = field === undefined ? [] : Changes.buildSearchTexts(field).map((piece) => `%${piece}%`);
  const condition = patterns.map(() => 'changes LIKE ?').join(' OR ');
  return [
    ...(actor_kind === undefined ? [] : [toClause('actor_kind = ?', actor_kind)]),
    ...(patterns.length === 0 ? [] : [toClause(condition, ...patterns)]),
  ];
}

/** Number of rows that a statement scans if the index does not cover the whole filter. */
const ROWS_PER_PART = 500;
/** Number of matches at which counting stops. */
const MAX_COUNT = 1000;
/** Maximum number of scans before counting stops. */
const MAX_COUNT_PARTS = 10;
const COLUMNS = 'id, time, actor_kind, actor_id, action, target_kind, target_id, changes, request_id, ip';

/**
 * Events to read, newest first, such as all events of one actor. Events with ids less than `before` are not read yet.
 */
interface Source {
  condition: Clause | undefined;
  index: string | undefined;
  before: string;
}

type Rows = AuditEventEntity[];

/**
 * Finds audit events, newest first. Each statement reads one value of one index, which limits its cost. The events of
 * several values, such as several actions, are merged by id. If the index does not cover the whole filter, each
 * statement scans a limited number of rows.
 */
@Injectable()
export class AuditSearchRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /**
   * Yields the matching events with ids less than `after`, newest first. Yields an empty list after a scan without a
   * match, so that the caller can stop.
   * @param size maximum number of events that one statement returns.
   */
  async *readMatchingEvents(filter: AuditFilter, after: string | undefined, size: number, columns = COLUMNS) {
    const range = toIdRange(filter, after);
    const indexed = await this.chooseFilter(filter, range);
    const others = buildOtherConditions(this.database, filter, indexed);
    const sources = await this.findSources(indexed, range);
    let found: Rows = [];
    while (sources.length > 0) {
      const source = sources.reduce((a, b) => (b.before > a.before ? b : a));
      const { rows, isDone } = await this.readPage(source, range, others, size, columns);
      found.push(...rows);
      if (isDone) sources.splice(sources.indexOf(source), 1);
      // All unread events have ids less than `seen`, so the order of the events from `seen` on is final.
      const seen = sources.reduce((highest, { before }) => (before > highest ? before : highest), '');
      const ready = found.filter(({ id }) => id >= seen);
      found = found.filter(({ id }) => id < seen);
      yield ready.sort((a, b) => (a.id < b.id ? 1 : -1));
      // SQLite may answer synchronously, so this pause lets other requests run.
      if (others.length > 0) await setImmediate();
    }
  }

  /** Reads the deletions of users, oldest first. Deleted users have hardly any events after the time of deletion. */
  async readDeletions(users: readonly { user: { uuid: string }; deleted: string }[]): Promise<Rows> {
    const uuids = users.map(({ user }) => user.uuid);
    const [first = ''] = users.map(({ deleted }) => deleted).sort();
    const from = `FROM audit_events${indexHintOf(this.database, INDEXES.target_id)}`;
    const toSql = (list: string) =>
      `SELECT ${COLUMNS} ${from} WHERE target_id IN (${list}) AND id >= '${toFirstId(toMillis(first))}'
       AND action = 'user.deleted' ORDER BY id`;
    return selectWhereIn<AuditEventEntity>(this.database, uuids, toSql);
  }

  /** Finds the events that record who started and approved these imports, oldest first. */
  async findRunSteps(runs: readonly string[]): Promise<Rows> {
    const from = `FROM audit_events${indexHintOf(this.database, INDEXES.target_id)}`;
    const toSql = (list: string) =>
      `SELECT ${COLUMNS} ${from} WHERE target_id IN (${list}) AND ${IS_RUN_STEP}`;
    const rows = await selectWhereIn<AuditEventEntity>(this.database, runs.filter(isEventId), toSql);
    return rows.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** Counts the events that match a filter. If `exact` is false, there may be more events than `count`. */
  async count(filter: AuditFilter): Promise<{ count: number; exact: boolean }> {
    const range = toIdRange(filter, undefined);
    const indexed = await this.chooseFilter(filter, range);
    if (buildOtherConditions(this.database, filter, indexed).length === 0) {
      const count = await this.countFiltered(indexed, range);
      return { count, exact: count < MAX_COUNT };
    }
    let count = 0;
    let parts = 0;
    for await (const rows of this.readMatchingEvents(filter, undefined, MAX_COUNT, 'id')) {
      count += rows.length;
      if (count >= MAX_COUNT) return { count: MAX_COUNT, exact: false };
      if (++parts > MAX_COUNT_PARTS) return { count, exact: false };
    }
    return { count, exact: true };
  }

  /**
   * Returns the indexed filter with the fewest events, if any. Counts them, because the query planner cannot estimate
   * their number.
   */
  private async chooseFilter(filter: AuditFilter, range: IdRange): Promise<IndexedFilter | undefined> {
    const filters = toIndexedFilters(filter);
    if (filters.length <= 1) return filters[0];
    const counted: { indexed: IndexedFilter; count: number }[] = [];
    for (const indexed of filters) counted.push({ indexed, count: await this.countFiltered(indexed, range) });
    return counted.toSorted((one, other) => one.count - other.count)[0]?.indexed;
  }

  private async countFiltered(indexed: IndexedFilter | undefined, range: IdRange): Promise<number> {
    let count = 0;
    for (const value of indexed?.values ?? [undefined]) {
      const { sql, params } = buildSelect(this.database, toSource(indexed, value, range), range.low, 'id');
      count += (await this.database.query(sql, [...params, MAX_COUNT - count])).length;
      if (count >= MAX_COUNT) return count;
    }
    if (indexed?.column !== 'actor_id') return count;
    const [party = ''] = indexed.values;
    const sql = `SELECT e.id FROM (${buildRunsOfPerson(this.database)}) AS runs
      ${orderedJoinOperatorOf(this.database)} audit_events AS e${indexHintOf(this.database, indexNameOf(indexed))} ON e.actor_id = runs.run_id
      WHERE e.id >= ? AND e.id < ? LIMIT ?`;
    const rows = await this.database.scan(sql, [party, range.low, range.high, MAX_COUNT - count]);
    return count + rows.length;
  }

  private async findSources(indexed: IndexedFilter | undefined, range: IdRange): Promise<Source[]> {
    const sources = (indexed?.values ?? [undefined]).map((value) => toSource(indexed, value, range));
    if (indexed?.column !== 'actor_id') return sources;
    const [party = ''] = indexed.values;
    // Finds the newest event of each import that this party started or approved.
    const runs = await this.database.scan<{ run_id: string; newest: string | null }>(
      `SELECT run_id, (SELECT e.id FROM audit_events AS e${indexHintOf(this.database, indexNameOf(indexed))}
         WHERE e.actor_id = runs.run_id AND e.id < ? ORDER BY e.id DESC LIMIT 1) AS newest
       FROM (${buildRunsOfPerson(this.database)}) AS runs`,
      [range.high, party],
    );
    const others = runs.flatMap(({ run_id, newest }) => {
      if (newest === null || newest < range.low) return [];
      return toSource(indexed, run_id, { ...range, high: toExclusiveBound(newest) });
    });
    return [...sources, ...others];
  }

  /**
   * Reads the next events of a source. Scans a limited number of rows if the index does not cover all conditions.
   * @returns the matching events. `isDone` is true at the end of the source.
   */
  private async readPage(
    source: Source,
    { low }: IdRange,
    others: readonly Clause[],
    size: number,
    columns: string,
  ): Promise<{ rows: Rows; isDone: boolean }> {
    let part = { scanned: 0, last: low };
    if (others.length > 0) {
      const { sql, params } = buildSelect(this.database, source, low, 'id');
      const [bound] = await this.database.scan<{ scanned: number; last: string | null }>(
        `SELECT COUNT(*) AS scanned, MIN(id) AS last FROM (${sql}) AS part`,
        [...params, ROWS_PER_PART],
      );
      if (!bound?.last) return { rows: [], isDone: true };
      part = { scanned: bound.scanned, last: bound.last };
    }
    const { sql, params } = buildSelect(this.database, source, part.last, columns, others);
    const method = others.length > 0 ? 'scan' : 'query';
    const rows = await this.database[method]<AuditEventEntity>(sql, [...params, size]);
    const isFull = rows.length === size;
    source.before = (isFull ? rows.at(-1)?.id : undefined) ?? part.last;
    return { rows, isDone: !isFull && part.scanned < ROWS_PER_PART };
  }
}

function toSource(indexed: IndexedFilter | undefined, value: string | undefined, { high }: IdRange): Source {
  const condition = indexed && value !== undefined ? toClause(`${indexed.column} = ?`, value) : undefined;
  return { condition, index: indexed && indexNameOf(indexed), before: high };
}

/** Builds the SELECT for the unread events of a source. The caller must add the limit as the last parameter. */
function buildSelect(
  database: Database,
  { condition, index, before }: Source,
  low: string,
  columns: string,
  others: readonly Clause[] = [],
): Clause {
  const inRange = toClause('id >= ? AND id < ?', low, before);
  const { sql, params } = buildWhere([...(condition ? [condition] : []), inRange, ...others]);
  const hint = index === undefined ? '' : indexHintOf(database, index);
  const select = `SELECT ${columns} FROM audit_events${hint}`;
  return toClause(`${select} WHERE ${sql} ORDER BY id DESC LIMIT ?`, ...params);
}
