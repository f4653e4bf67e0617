import { Inject, Injectable } from '@nestjs/common';
import { setImmediate } from 'node:timers/promises';
import { DatabaseFault } from '../platform/database/engine/database-fault.js';
import { type Sql, insertRows } from '../platform/database/engine/sql.js';
import { DATABASE, type Database } from '../platform/database/engine/database.js';
import type { Caller } from '../access/actor.js';
import { Changes, type FieldChange } from '../platform/common/field-changes.js';
import { ProblemError } from '../platform/common/errors.js';
import { withoutKeys, withoutSecrets } from '../platform/common/secrets.js';
import { truncated } from '../platform/common/text.js';
import { timeOf, uuidsInOrder } from '../platform/common/uuid.js';
import { Env } from '../platform/config/env.js';
import { networkOf } from '../platform/http/request-headers.js';
import { AuditEventEntity, type AuditRunEntity } from './audit.entity.js';
import {
  type ACTOR_KINDS,
  type AuditAction,
  type AuditChange,
  type AuditRecord,
  GIVEN_REASON,
  NO_TARGET,
  type People,
  type TARGET_KINDS,
  idOfMinute,
} from './audit-event.js';
import type { AuditFilter } from './audit.query.js';
import { AuditCounts } from './audit-counts.service.js';
import { AuditNames, type NameOf } from './audit-names.service.js';
import { AuditRunsRepository } from './audit-runs.repository.js';
import { AuditWalkRepository } from './audit-walk.repository.js';
import { Sealer } from './sealer.service.js';

/** Hand-written SQL: appends are part of bulk writes (ADR 0013). */
@Injectable()
export class AuditRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /** @param tx the transaction of what is recorded; without one the rows are written by themselves. */
  async append(events: readonly AuditEventEntity[], tx: Sql = this.database): Promise<void> {
    await insertRows(tx, AuditEventEntity, events);
  }

  /** Appends a row of which there is one of this id at most. */
  async appendOnce(event: AuditEventEntity): Promise<void> {
    try {
      await insertRows(this.database, AuditEventEntity, [event]);
    } catch (error) {
      if (!(error instanceof DatabaseFault && error.fault === 'duplicate')) throw error;
    }
  }

  /** Whether there is an event of this action about the target, from this address. The events of a target are few. */
  async has(target: string, action: AuditAction, ip: string): Promise<boolean> {
    const found = await this.database.first(
      'SELECT id FROM audit_events WHERE target_id = ? AND action = ? AND ip = ? LIMIT 1',
      [target, action, ip],
    );
    return found !== undefined;
  }

  /** Deletes the oldest rows, of ids less than `until`. @returns how many, at most `limit`. */
  async deleteBefore(until: string, limit: number): Promise<number> {
    // Up to a known id: for a list of them, or a subquery, MariaDB scans the whole table.
    const [oldest] = await this.database.query<{ last: string | null }>(
      'SELECT MAX(id) AS last FROM (SELECT id FROM audit_events WHERE id < ? ORDER BY id LIMIT ?) AS oldest',
      [until, limit],
    );
    if (!oldest?.last) return 0;
    return this.database.execute('DELETE FROM audit_events WHERE id <= ?', [oldest.last]);
  }
}

export interface AuditEvent {
  action: AuditAction;
  target: { kind: (typeof TARGET_KINDS)[number]; id: string };
  changes?: readonly AuditChange[] | Changes;
}

/** A page of events. `last` is the id of the last one, where more follow. */
export interface AuditPage {
  records: AuditRecord[];
  nameOf: NameOf;
  last: string | undefined;
}

/** Characters of the name of a failed login. */
const MAX_NAME = 64;
const PAGE = 500;
const PURGE_ROWS = 500;

/** Who is recorded: a caller, or a client without credentials. */
interface RecordedCaller {
  actor: { kind: (typeof ACTOR_KINDS)[number]; id: string | null };
  requestId: string;
  ip: string;
  reason?: string;
}

/** Records who changed what, in the transaction of the change, so that neither exists without the other. */
@Injectable()
export class AuditService {
  /** How long a page is looked for. */
  maxMillis: number;

  constructor(
    private readonly repository: AuditRepository,
    private readonly rows: AuditWalkRepository,
    private readonly runs: AuditRunsRepository,
    private readonly names: AuditNames,
    private readonly sealer: Sealer,
    private readonly counts: AuditCounts,
    { SEARCH_TIMEOUT }: Env,
  ) {
    this.maxMillis = SEARCH_TIMEOUT * 1000;
  }

  async record(tx: Sql, caller: Caller, events: readonly AuditEvent[]): Promise<void> {
    await this.repository.append(toRows(caller, events), tx);
  }

  /** Records what changes nothing, and so has no transaction. */
  async recordAlone(caller: RecordedCaller, event: AuditEvent): Promise<void> {
    await this.repository.append(toRows(caller, [event]));
  }

  /**
   * Records a failed login, once a minute for a name and an address on all instances together: its time is the start of that
   * minute, as that of its id is, by which events are ordered and cut. The name is stored as it was typed, 64 characters of
   * it, without what looks like an API key or a session: it may still be a password that was typed into the wrong field.
   * @param key the name as it is compared. @param user the one that it names; unknown and blocked names are recorded too.
   */
  async recordFailedLogin(
    { name, key, user }: { name: string; key: string; user: string | undefined },
    request: { requestId: string; ip: string },
  ): Promise<void> {
    const target = { kind: 'user', id: user ?? NO_TARGET } as const;
    const changes = [{ field: 'username', new: truncated(withoutSecrets(name), MAX_NAME) }];
    const caller: RecordedCaller = { actor: { kind: 'anonymous', id: null }, ...request };
    const [row] = toRows(caller, [{ action: 'session.login_failed', target, changes }]);
    const id = idOfMinute(JSON.stringify([key, networkOf(request.ip)]), Date.now());
    if (row) await this.repository.appendOnce(Object.assign(row, { id, time: timeOf(id) }));
  }

  /** Records an export of users. @param all also of those without an external id. */
  async recordExport(caller: Caller, all: boolean): Promise<void> {
    const target = { kind: 'users', id: NO_TARGET } as const;
    await this.recordAlone(caller, {
      action: 'users.exported',
      target,
      changes: [{ field: 'all', new: all }],
    });
  }

  /** Records that a key was used from an address for the first time, as far as the audit goes back. */
  async recordAddress(key: string, ip: string): Promise<void> {
    if (await this.repository.has(key, 'api_key.new_address', ip)) return;
    const caller: RecordedCaller = { actor: { kind: 'key', id: key }, requestId: 'api-key', ip };
    await this.recordAlone(caller, { action: 'api_key.new_address', target: { kind: 'api_key', id: key } });
  }

  /** Records the start of an import, and who is behind all that it will change. */
  async startRun(tx: Sql, caller: Caller, id: string, changes: readonly AuditChange[]): Promise<void> {
    await this.runs.putPerson(tx, id, 'started', caller);
    await this.record(tx, caller, [{ action: 'import.created', target: { kind: 'import', id }, changes }]);
  }

  /** As `startRun`, of an approval. */
  async approveRun(tx: Sql, caller: Caller, id: string): Promise<void> {
    await this.runs.putPerson(tx, id, 'approved', caller);
    await this.record(tx, caller, [{ action: 'import.approved', target: { kind: 'import', id } }]);
  }

  /**
   * A page of events, newest first, after the one with the id `after`: full as long as there are more.
   * @throws ProblemError `search_too_broad` when it was not found in time, among rows that no index leaves out.
   */
  async page(filter: AuditFilter, after: string | undefined, limit: number): Promise<AuditPage> {
    const began = Date.now();
    const found: AuditEventEntity[] = [];
    for await (const rows of this.rows.walk(filter, after, limit + 1)) {
      found.push(...rows);
      if (found.length > limit) break;
      if (Date.now() - began >= this.maxMillis) throw tooBroad(filter);
    }
    const records = await this.withPeople(found.slice(0, limit));
    const nameOf = await this.names.of(records);
    return { records, nameOf, last: found.length > limit ? records.at(-1)?.id : undefined };
  }

  /** The number of events; where it is not exact there are at least as many. */
  async count(filter: AuditFilter): Promise<{ count: number; exact: boolean }> {
    return this.rows.count(filter);
  }

  /** All events in pages, newest first, however long it takes. */
  async *all(filter: AuditFilter): AsyncGenerator<AuditRecord[]> {
    for await (const rows of this.rows.walk(filter, undefined, PAGE)) yield await this.withPeople(rows);
  }

  /** Deletes events older than AUDIT_RETENTION_DAYS, and who is behind imports without any event left, in short transactions that block no other writer for long. */
  async purge(): Promise<void> {
    await this.counts.purge();
    const until = await this.sealer.purgeable();
    if (until === undefined) return;
    while ((await this.repository.deleteBefore(until, PURGE_ROWS)) > 0) await setImmediate();
    await this.sealer.forget();
    await this.runs.purge(until);
  }

  private async withPeople(rows: readonly AuditEventEntity[]): Promise<AuditRecord[]> {
    const runs = rows.flatMap(({ actor_kind, actor_id }) =>
      actor_kind === 'import' ? (actor_id ?? []) : [],
    );
    const people = peopleBy(await this.runs.peopleOf([...new Set(runs)]));
    return rows.map((row) => toRecord(row, people));
  }
}

/** The time of a row is that of its id, so that both have the same order. */
function toRows(caller: RecordedCaller, events: readonly AuditEvent[]): AuditEventEntity[] {
  const ids = uuidsInOrder(events.length);
  const [first] = ids;
  if (first === undefined) return [];
  const time = timeOf(first);
  return events.map(({ action, target, changes }, index) => ({
    id: ids[index] ?? first,
    time,
    actor_kind: caller.actor.kind,
    actor_id: caller.actor.id,
    action,
    target_kind: target.kind,
    target_id: target.id,
    changes: withReason(changes, caller.reason).textAfter(withoutKeys),
    request_id: caller.requestId,
    ip: caller.ip,
  }));
}

/** The reason of a request is kept with the changes: both are sealed, and searched, alike. */
function withReason(changes: AuditEvent['changes'], reason: string | undefined): Changes {
  const all = changes instanceof Changes ? changes : Changes.of(changes ?? []);
  return reason === undefined ? all : Changes.of([...all.list, { field: GIVEN_REASON, new: reason }]);
}

function tooBroad(filter: AuditFilter): ProblemError {
  const names = Object.entries(filter).flatMap(([name, value]) =>
    value === undefined || ['limit', 'after', 'since', 'until'].includes(name) ? [] : [name],
  );
  return new ProblemError(
    'search_too_broad',
    `Too many events had to be read for ${names.sort().join(' and ')}: name a target, or a time with since and until.`,
  );
}

/** Who is behind each import. */
function peopleBy(rows: readonly AuditRunEntity[]): ReadonlyMap<string, People> {
  const people = new Map<string, People>();
  for (const { run_id, part, person_kind: kind, person_id: id } of rows) {
    people.set(run_id, {
      ...people.get(run_id),
      [part === 'started' ? 'started_by' : 'approved_by']: { kind, id },
    });
  }
  return people;
}

/** The record of a database row. */
function toRecord(row: AuditEventEntity, people: ReadonlyMap<string, People>): AuditRecord {
  const { actor_kind: kind, actor_id: id } = row;
  const { list } = Changes.read(row.changes);
  return {
    id: row.id,
    time: row.time,
    actor: { kind, id, ...(kind === 'import' && id !== null && people.get(id)) },
    action: row.action,
    target: { kind: row.target_kind, id: row.target_id },
    changes: list.filter(({ field }) => field !== GIVEN_REASON),
    reason: reasonIn(list),
    request_id: row.request_id,
    ip: row.ip,
  };
}

function reasonIn(list: readonly FieldChange[]): string {
  const reason = list.find(({ field }) => field === GIVEN_REASON)?.new;
  return typeof reason === 'string' ? reason : '';
}
