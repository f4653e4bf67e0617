import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/actor.js';
import { Changes } from '../../platform/common/field-changes.js';
import { now } from '../../platform/common/time.js';
import type { AuditAction } from '../../audit/audit-event.js';
import { AuditService } from '../../audit/audit.service.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import { SessionsService } from '../../sessions/sessions.service.js';
import { isActiveWebmaster } from '../rules/user-rules.js';
import { type ValidatedSetChange, type Outcome, createdAt } from './change-set.js';
import { DeletedUsersRepository } from './deleted-users.repository.js';
import { type User, hasSameWords, rolesOf, valueRows, wordRows } from '../model/user.js';
import type { UserRoleEntity, UserValueEntity, UserWordEntity } from '../model/user-lookups.entity.js';
import { endsSessions } from '../rules/user-rules.js';
import { type Counted, UserCounts } from './user-counts.service.js';
import { UserWriteRepository } from './user-write.repository.js';

/** A change that is written: the state that goes into the row, and how it came about. */
interface Written extends Pick<ValidatedSetChange, 'before' | 'prepared' | 'constraint'> {
  /** Of a deleted user: as it was. */
  user: User;
  /** undefined for a deleted user. */
  after: User | undefined;
  outcome: Extract<Outcome, { user: User }>;
}

/** Deleted user → the groups that it has left. */
type LeftGroups = ReadonlyMap<string, readonly string[]>;
const NO_GROUPS: LeftGroups = new Map();

/** The second half of the writer: rows, look-up tables, counts, sessions and audit of the good changes. */
@Injectable()
export class UserPersistence {
  constructor(
    private readonly repository: UserWriteRepository,
    private readonly deleted: DeletedUsersRepository,
    private readonly counts: UserCounts,
    private readonly sessions: SessionsService,
    private readonly audit: AuditService,
  ) {}

  /** `changes` and `outcomes` go in pairs; errors and unchanged users cost nothing. */
  async save(
    tx: Sql,
    changes: readonly ValidatedSetChange[],
    outcomes: readonly Outcome[],
    caller: Caller,
  ): Promise<void> {
    const written = outcomes.flatMap((outcome, index) => toWritten(outcome, changes[index]));
    if (written.length === 0) return;
    const left = written.some(isMoved) ? await this.moveRows(tx, written) : NO_GROUPS;
    await this.repository.saveUsers(
      tx,
      written.flatMap(({ prepared, user: { created, updated } }) =>
        prepared ? createdAt(prepared.row, created, updated) : [],
      ),
      written.filter(({ prepared, after }) => !prepared && after),
    );
    const lookedUp = written.filter(touchesLookups);
    if (lookedUp.length > 0) await this.saveLookups(tx, lookedUp);
    const signedOut = written.filter(endsAnySession);
    if (signedOut.length > 0) await this.endSessions(tx, signedOut, caller);
    await this.audit.record(
      tx,
      caller,
      written.map((each) => toAuditEvent(each, left)),
    );
    const recounted = written.filter(changesCounts);
    if (recounted.length > 0) await this.counts.add(tx, countDeltas(recounted));
  }

  /**
   * Moves the rows of deleted users to `deleted_users`, and deletes the rows there of restored users. Runs before rows are
   * created, because reports lose their manager here too. @returns deleted user → the groups that it has left.
   */
  private async moveRows(tx: Sql, written: readonly Written[]): Promise<LeftGroups> {
    const named = (wanted: Outcome['outcome']): User[] =>
      written.flatMap(({ outcome, user }) => (outcome.outcome === wanted ? user : []));
    const back = named('restored').map(({ uuid }) => uuid);
    if (back.length > 0) await this.deleted.forget(tx, back);
    const gone = named('deleted');
    if (gone.length === 0) return NO_GROUPS;
    const time = now();
    await this.deleted.take(tx, gone, time);
    return this.deleted.leaveGroups(
      tx,
      gone.map(({ uuid }) => uuid),
      time,
    );
  }

  private async saveLookups(tx: Sql, written: readonly Written[]): Promise<void> {
    const taken = written.flatMap(({ user, constraint }) =>
      distinct((constraint?.taken ?? []).map(({ identifier }) => identifier)).map((identifier) => ({
        identifier,
        user_uuid: user.uuid,
      })),
    );
    const released = distinct(
      written.flatMap(({ constraint }) => (constraint?.released ?? []).map(({ identifier }) => identifier)),
    );
    await this.repository.moveIdentifiers(tx, released, taken);

    await this.repository.moveRoles(tx, {
      gone: written.flatMap(({ before, after }) => (before ? roleRows(before, after && rolesOf(after)) : [])),
      added: written.flatMap(({ before, after }) =>
        after ? roleRows(after, before && rolesOf(before)) : [],
      ),
    });
    await this.repository.moveWords(tx, wordMoves(written));
    await this.repository.moveValues(tx, valueMoves(written));
  }

  private async endSessions(tx: Sql, written: readonly Written[], caller: Caller): Promise<void> {
    const [all, others] = [written.filter(endsAllSessions), written.filter((each) => !endsAllSessions(each))];
    const own = caller.actor.kind === 'user' ? caller.actor.sessionId : undefined;
    const uuids = (list: readonly Written[]): string[] => list.map(({ user }) => user.uuid);
    if (all.length > 0) await this.sessions.endOfUsers(tx, uuids(all));
    if (others.length > 0) await this.sessions.endOfUsers(tx, uuids(others), own);
  }
}

/** Pairs a change with its outcome. Refused changes and unchanged users are not written. */
function toWritten(outcome: Outcome, change: ValidatedSetChange | undefined): Written[] {
  if (!change || outcome.outcome === 'error' || outcome.outcome === 'unchanged') return [];
  const { user } = outcome;
  return [{ ...change, user, after: outcome.outcome === 'deleted' ? undefined : user, outcome }];
}

const isMoved = ({ outcome: { outcome } }: Written): boolean =>
  outcome === 'deleted' || outcome === 'restored';

/** Whether a change may move look-up rows. A field that no patch touches keeps its value by reference. */
function touchesLookups({ before, after, constraint }: Written): boolean {
  if (!before || !after || constraint) return true;
  const isSame = (['roles', 'group_roles', 'attributes'] as const).every(
    (field) => before[field] === after[field],
  );
  return !isSame || !hasSameWords(before, after);
}

const endsAllSessions = ({ before, after }: Written): boolean =>
  before !== undefined && (!after || endsSessions(before, after));

const endsAnySession = (written: Written): boolean =>
  (written.before !== undefined && written.before.password_hash !== written.user.password_hash) ||
  endsAllSessions(written);

/** Rows for the roles of a user that are not among `others`. */
const roleRows = (user: User, others: readonly string[] = []): UserRoleEntity[] =>
  rolesOf(user)
    .filter((role) => !others.includes(role))
    .map((role) => ({ role, user_uuid: user.uuid }));

/** Only rows that differ are written. */
function wordMoves(written: readonly Written[]) {
  const gone: UserWordEntity[] = [];
  const added: UserWordEntity[] = [];
  const changed: UserWordEntity[] = [];
  for (const { before, prepared, after } of written) {
    if (prepared) added.push(...prepared.words);
    if (!before || (after && hasSameWords(before, after))) continue;
    const old = new Map(wordRows(before).map((row) => [row.word, row]));
    for (const row of after ? wordRows(after) : []) {
      const same = old.get(row.word);
      old.delete(row.word);
      if (same?.weight !== row.weight || same.public_weight !== row.public_weight) changed.push(row);
    }
    gone.push(...old.values());
  }
  return { gone, added, changed };
}

/** Users whose attributes stay cost nothing. */
function valueMoves(written: readonly Written[]) {
  const gone: UserValueEntity[] = [];
  const added: UserValueEntity[] = [];
  for (const { before, prepared, after } of written) {
    if (prepared) added.push(...prepared.values);
    if (!before || before.attributes === after?.attributes) continue;
    const old = new Map(valueRows(before).map((row) => [`${row.attribute} ${row.value_key}`, row]));
    if (after)
      added.push(...valueRows(after).filter((row) => !old.delete(`${row.attribute} ${row.value_key}`)));
    gone.push(...old.values());
  }
  return { gone, added };
}

const distinct = (values: readonly string[]): string[] => [...new Set(values)];

const changesCounts = ({ before, after }: Written): boolean =>
  !before ||
  !after ||
  before.status !== after.status ||
  isActiveWebmaster(before) !== isActiveWebmaster(after);

/** Returns what the changes add to the totals. */
function countDeltas(written: readonly Written[]): Map<Counted, number> {
  const deltas = new Map<Counted, number>();
  const add = (user: User | undefined, delta: number): void => {
    for (const name of countedAs(user)) deltas.set(name, (deltas.get(name) ?? 0) + delta);
  };
  for (const { before, after } of written) {
    add(before, -1);
    add(after, 1);
  }
  return deltas;
}

function countedAs(user: User | undefined): Counted[] {
  if (!user) return [];
  return isActiveWebmaster(user) ? [user.status, 'webmasters'] : [user.status];
}

/** Groups that the audit row of a deleted user names. Further groups are found by the versions of the groups alone. */
const MOST_GROUPS = 1000;

function toAuditEvent({ before, user, outcome }: Written, left: LeftGroups) {
  const groups = left.get(user.uuid);
  return {
    action: auditAction(outcome.outcome, before, user),
    target: { kind: 'user' as const, id: user.uuid },
    changes: groups ? withGroups(outcome.changes, groups) : outcome.changes,
  };
}

function withGroups({ list }: Changes, groups: readonly string[]): Changes {
  return Changes.of([...list, { field: 'groups', old: groups.slice(0, MOST_GROUPS), new: null }]);
}

function auditAction(outcome: Outcome['outcome'], before: User | undefined, after: User): AuditAction {
  return before?.status === after.status && outcome === 'updated'
    ? 'user.updated'
    : otherAction(outcome, before, after);
}

function otherAction(outcome: Outcome['outcome'], before: User | undefined, after: User): AuditAction {
  if (outcome === 'deleted' || outcome === 'restored') return `user.${outcome}`;
  if (!before) return 'user.created';
  return after.status === 'Blocked' ? 'user.blocked' : 'user.reactivated';
}
