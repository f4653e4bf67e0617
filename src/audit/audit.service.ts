import { Inject, Injectable } from '@nestjs/common';
import { setImmediate } from 'node:timers/promises';
import { DatabaseError } from '../platform/database/engine/database-error.js';
import { type Sql, insertRows } from '../platform/database/engine/sql.js';
import { DATABASE, type Database } from '../platform/database/engine/database.js';
import type { Caller } from '../access/actor.js';
import { Changes } from '../platform/common/field-changes.js';
import { ProblemError } from '../platform/common/errors.js';
import { isObject } from '../platform/common/json.js';
import { maskKeys, maskSecrets } from '../platform/common/secrets.js';
import { truncate } from '../platform/common/text.js';
import { timeOf, createOrderedUuids } from '../platform/common/uuid.js';
import { Env } from '../platform/config/env.js';
import { isUnixAddress, toNetwork } from '../platform/http/request-headers.js';
import { AuditEventEntity } from './audit.entity.js';
import {
  type ACTOR_KINDS,
  type AuditAction,
  type AuditChange,
  type AuditRecord,
  REASON_FIELD,
  NO_TARGET,
  type Party,
  type RunParties,
  type TARGET_KINDS,
  createMinuteId,
} from './audit-event.js';
import type { AuditFilter, AuditQuery } from './audit.query.js';
import { AuditCounts } from './audit-counts.service.js';
import { AuditNames } from './audit-names.service.js';
import { AuditSearchRepository } from './audit-search.repository.js';
import { Sealer } from './sealer.service.js';

/** Event to be recorded, without the id, time and actor. */
export interface AuditEvent {
  action: AuditAction;
  target: { kind: (typeof TARGET_KINDS)[number]; id: string };
  changes?: readonly AuditChange[] | Changes;
}

const MAX_NAME_LENGTH = 64;
const PAGE_SIZE = 500;
const PURGE_ROWS = 500;

/** Caller of an event. Unlike `Caller`, it can be a client without credentials. */
interface RecordedCaller {
  actor: { kind: (typeof ACTOR_KINDS)[number]; id: string | null };
  requestId: string;
  ip: string;
  reason?: string;
}

type CallerEvent = AuditEvent & { caller: RecordedCaller };

/** Request of a client that may have no credentials. */
export type ClientRequest = Omit<RecordedCaller, 'actor'> & Partial<RecordedCaller>;

/**
 * Records events, usually in the transaction of a change, so that both are stored together or not at all. Uses
 * hand-written SQL, because bulk writes append events (ADR 13).
 */
@Injectable()
export class AuditService {
  /** Maximum time for reading one page of events, in milliseconds. */
  maxMillis = this.env.SEARCH_TIMEOUT * 1000;

  constructor(
    @Inject(DATABASE) private readonly database: Database,
    private readonly rows: AuditSearchRepository,
    private readonly names: AuditNames,
    private readonly sealer: Sealer,
    private readonly counts: AuditCounts,
    private readonly env: Env,
  ) {}

  /**
   * Records a failed login or a wrong password in a session, at most once per minute for each username and network.
   * Masks API keys and session tokens in the username, which may still be a password typed into the wrong field.
   * @param key comparison key of the username.
   * @param user id of the user, undefined for an unknown username.
   */
  async recordFailedLogin(
    { name, key, user }: { name: string; key: string; user: string | undefined },
    request: ClientRequest,
  ): Promise<void> {
    const target = { kind: 'user', id: user ?? NO_TARGET } as const;
    const changes = [{ field: 'username', new: truncate(maskSecrets(name), MAX_NAME_LENGTH) }];
    const caller: RecordedCaller = { actor: { kind: 'anonymous', id: null }, ...request };
    const id = createMinuteId(JSON.stringify([key, toNetwork(request.ip)]), Date.now());
    const events = toRows([{ caller, action: 'session.login_failed', target, changes }]);
    const rows = events.map((row) => Object.assign(row, { id, time: timeOf(id) }));
    try {
      await insertRows(this.database, AuditEventEntity, rows);
    } catch (error) {
      if (!(error instanceof DatabaseError && error.fault === 'duplicate')) throw error;
    }
  }

  /**
   * @param isComplete true if the export includes users without an external id.
   * @param filters names of the conditions that limit the export. Their values may be personal data.
   */
  async recordExport(caller: Caller, isComplete: boolean, filters: readonly string[]): Promise<void> {
    const target = { kind: 'users', id: NO_TARGET } as const;
    const names = filters.map((name) => ({ field: 'filter', new: name }));
    const changes = [{ field: 'all', new: isComplete }, ...names];
    await recordEvents(this.database, caller, [{ action: 'users.exported', target, changes }]);
  }

  async recordAddress(key: string, ip: string): Promise<void> {
    const action = 'api_key.new_address';
    const sql = 'SELECT id FROM audit_events WHERE target_id = ? AND action = ? AND ip = ? LIMIT 1';
    const known = await this.database.queryOne(sql, [key, action, ip]);
    if (known) return;
    const caller: RecordedCaller = { actor: { kind: 'key', id: key }, requestId: 'api-key', ip };
    await recordEvents(this.database, caller, [{ action, target: { kind: 'api_key', id: key } }]);
  }

  /**
   * Reads a page of events older than the id `query.after`, newest first. Only the last page may be shorter than `limit`.
   * @returns the events and the number of matches. `last` is the id of the last event of the page, or undefined on the
   * last page. If `exact` is false, there may be more matches than `count`.
   * @throws ProblemError `search_too_broad` if the scan takes longer than `maxMillis`.
   */
  async readPage(query: AuditQuery, limit: number) {
    const began = performance.now();
    const found: AuditEventEntity[] = [];
    for await (const rows of this.rows.readMatchingEvents(query, query.after, limit + 1)) {
      found.push(...rows);
      if (found.length > limit) break;
      if (performance.now() - began >= this.maxMillis) throw createTooBroadError(query);
    }
    const records = await this.toRecords(found.slice(0, limit));
    const nameOf = await this.names.loadNames(records);
    const last = found.length > limit ? records.at(-1)?.id : undefined;
    return { records, nameOf, last, ...(await this.rows.count(query)) };
  }

  /** Finds the events of deletions that are already committed. @param users deleted users with the time of deletion. */
  async findDeletions(users: readonly { user: { uuid: string }; deleted: string }[]) {
    const records = await this.toRecords(await this.rows.readDeletions(users));
    return { records, nameOf: await this.names.loadNames(records) };
  }

  /** Finds the users and API keys that added a file with this content to the drop folder. */
  async findFileSenders(sha256: string): Promise<Party[]> {
    const senders = new Map<string | null, Party>();
    for await (const records of this.readAll({ action: ['import.file_added'] }))
      for (const { actor, changes } of records)
        if (changes.some(({ new: file }) => isObject(file) && file['sha256'] === sha256))
          senders.set(actor.id, { kind: actor.kind, id: actor.id });
    return [...senders.values()];
  }

  /** Yields all matching events in pages, newest first, without a time limit. */
  async *readAll(filter: AuditFilter): AsyncGenerator<AuditRecord[]> {
    for await (const rows of this.rows.readMatchingEvents(filter, undefined, PAGE_SIZE))
      yield await this.toRecords(rows);
  }

  /** Deletes old counts, and events older than AUDIT_RETENTION_DAYS. */
  async purge(): Promise<void> {
    await this.counts.purge();
    const seal = await this.sealer.findPurgeableSeal();
    if (!seal) return;
    while (await this.deleteOldest(seal.until_id)) await setImmediate();
    await this.sealer.cleanUpPurgedSeals(seal);
  }

  /** Deletes a batch of the oldest events with an id less than `until`. @returns false if no such event is left. */
  private async deleteOldest(until: string): Promise<boolean> {
    // Looks up the last id of the batch first, because MariaDB would scan the table for a DELETE with a list of ids or
    // a subquery.
    const sql =
      'SELECT MAX(id) AS last FROM (SELECT id FROM audit_events WHERE id < ? ORDER BY id LIMIT ?) AS oldest';
    const [oldest] = await this.database.query<{ last: string | null }>(sql, [until, PURGE_ROWS]);
    if (!oldest?.last) return false;
    return (await this.database.execute('DELETE FROM audit_events WHERE id <= ?', [oldest.last])) > 0;
  }

  private async toRecords(rows: readonly AuditEventEntity[]): Promise<AuditRecord[]> {
    const runs = rows.flatMap((row) => (row.actor_kind === 'import' ? (row.actor_id ?? []) : []));
    const partiesByRun = groupByRun(await this.rows.findRunSteps([...new Set(runs)]));
    return rows.map((row) => toRecord(row, partiesByRun));
  }
}

/** Records events, usually in the transaction of a change. Also works in programs that start no Nest application. */
export async function recordEvents(tx: Sql, caller: RecordedCaller, events: readonly AuditEvent[]) {
  const all = events.map((event) => ({ ...event, caller }));
  await recordCallerEvents(tx, all);
}

/** Records events of several callers in the transaction of their changes. */
export async function recordCallerEvents(tx: Sql, events: readonly CallerEvent[]) {
  await insertRows(tx, AuditEventEntity, toRows(events));
}

/** Converts events to rows. The time of a row is taken from its id, so sorting by id also sorts by time. */
function toRows(events: readonly CallerEvent[]): AuditEventEntity[] {
  const ids = createOrderedUuids(events.length);
  const [first] = ids;
  if (first === undefined) return [];
  const time = timeOf(first);
  return events.map(({ caller, action, target, changes }, index) => ({
    id: ids[index] ?? first,
    time,
    actor_kind: caller.actor.kind,
    actor_id: caller.actor.id,
    action,
    target_kind: target.kind,
    target_id: target.id,
    changes: addReason(changes, caller.reason).maskText(maskKeys),
    request_id: caller.requestId,
    ip: caller.ip,
  }));
}

/** Adds the reason of the request to the changes, so that the seal covers it and searches find it. */
function addReason(changes: AuditEvent['changes'], reason: string | undefined): Changes {
  const all = changes instanceof Changes ? changes : Changes.fromList(changes ?? []);
  if (reason === undefined) return all;
  return Changes.fromList([...all.list, { field: REASON_FIELD, new: maskSecrets(reason) }]);
}

function createTooBroadError(filter: AuditFilter): ProblemError {
  const names = Object.entries(filter).flatMap(([name, value]) =>
    value === undefined || ['limit', 'after', 'since', 'until'].includes(name) ? [] : [name],
  );
  const fault = `The search by ${names.sort().join(' and ')} reads too many events`;
  const remedy = 'Add a target, or limit the time range with since and until';
  return new ProblemError('search_too_broad', `${fault}. ${remedy}.`);
}

/** Groups the parties that started and approved imports. An approval replaces an earlier approval of the import. */
function groupByRun(steps: readonly AuditEventEntity[]): ReadonlyMap<string, RunParties> {
  const partiesByRun = new Map<string, RunParties>();
  for (const { target_id: run, action, actor_kind: kind, actor_id: id } of steps) {
    const field = action === 'import.created' ? 'started_by' : 'approved_by';
    partiesByRun.set(run, { ...partiesByRun.get(run), [field]: { kind, id } });
  }
  return partiesByRun;
}

function toRecord(row: AuditEventEntity, partiesByRun: ReadonlyMap<string, RunParties>): AuditRecord {
  const { actor_kind: kind, actor_id: id } = row;
  const { started_by, ...parties } = (kind === 'import' && partiesByRun.get(id ?? '')) || {};
  const addName = (party: Party): Party =>
    isUnixAddress(row.ip) && party.id === null ? { ...party, name: row.ip } : party;
  const { list } = Changes.fromText(row.changes);
  const given = list.find(({ field }) => field === REASON_FIELD)?.new;
  return {
    id: row.id,
    time: row.time,
    actor: { ...addName({ kind, id }), ...(started_by && { started_by: addName(started_by) }), ...parties },
    action: row.action,
    target: { kind: row.target_kind, id: row.target_id },
    changes: list.filter(({ field }) => field !== REASON_FIELD),
    reason: typeof given === 'string' ? given : '',
    request_id: row.request_id,
    ip: row.ip,
  };
}
