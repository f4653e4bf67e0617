import { Injectable } from '@nestjs/common';
import { Changes } from '../../platform/common/field-changes.js';
import { now } from '../../platform/common/time.js';
import type { AuditAction } from '../../audit/audit-event.js';
import { recordCallerEvents } from '../../audit/audit.service.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import { LoginThrottle } from '../../sessions/login-throttle.service.js';
import { SessionsService } from '../../sessions/sessions.service.js';
import { isActiveWebmaster, shouldEndSessions } from '../rules/user-rules.js';
import type { CheckedChange, ChangeOutcome } from './change-set.js';
import { DeletedUsersRepository } from './deleted-users.repository.js';
import { ReleasedUsernames } from './released-usernames.repository.js';
import { type Identifier, toLoginKey } from '../model/comparison-keys.js';
import { type User, hasSameValues, hasSameWords, rolesOf, toValueRows, toWordRows } from '../model/user.js';
import type { UserRoleEntity, UserValueEntity, UserWordEntity } from '../model/user-lookups.entity.js';
import { type CounterName, UserCounts } from './user-counts.service.js';
import { UserWriteRepository } from './user-write.repository.js';

interface StoredChange extends Pick<CheckedChange, 'caller' | 'before' | 'prepared' | 'constraint'> {
  user: User;
  /** The user after the change. Undefined if the user is deleted. */
  after: User | undefined;
  outcome: Extract<ChangeOutcome, { user: User }>;
}

/** Maps the uuid of a deleted user to the uuids of the former groups. */
type FormerGroups = ReadonlyMap<string, readonly string[]>;

/**
 * Stores the validated changes of `UserWriter`: rows of users, look-up tables, counters, ended sessions and audit
 * events.
 */
@Injectable()
export class UserChangeStore {
  constructor(
    private readonly repository: UserWriteRepository,
    private readonly deleted: DeletedUsersRepository,
    private readonly released: ReleasedUsernames,
    private readonly counts: UserCounts,
    private readonly sessions: SessionsService,
    private readonly throttle: LoginThrottle,
  ) {}

  /**
   * Stores the changes, except for failed changes and changes without an effect.
   * @param outcomes outcomes in the same order as the changes.
   */
  async save(tx: Sql, changes: readonly CheckedChange[], outcomes: readonly ChangeOutcome[]): Promise<void> {
    const stored = outcomes.flatMap((outcome, index) => toStoredChange(outcome, changes[index]));
    if (stored.length === 0) return;
    const groups = await this.moveDeletedAndRestored(tx, stored);
    const added = stored.flatMap(({ prepared, user: { created, updated } }) =>
      prepared ? Object.assign({}, prepared.row, { created, updated }) : [],
    );
    const updated = stored.flatMap(({ prepared, before, after, user }) =>
      !prepared && before && after ? { before, user } : [],
    );
    await this.repository.saveUsers(tx, added, updated);
    await this.released.add(tx, stored.flatMap(listReleased), now());
    await this.saveLookups(tx, stored);
    await this.endSessions(tx, stored);
    const events = stored.map((change) => toAuditEvent(change, groups));
    await recordCallerEvents(tx, events);
    const deltas = sumCountDeltas(stored);
    if ([...deltas.values()].some((delta) => delta !== 0)) await this.counts.add(tx, deltas);
  }

  /**
   * Moves deleted users to `deleted_users`, and removes restored users from there. Must run before new rows are
   * inserted.
   */
  private async moveDeletedAndRestored(tx: Sql, stored: readonly StoredChange[]): Promise<FormerGroups> {
    const filterChanges = (kind: ChangeOutcome['outcome']): StoredChange[] =>
      stored.filter(({ outcome }) => outcome.outcome === kind);
    const restored = filterChanges('restored').map(({ user }) => user.uuid);
    await this.deleted.remove(tx, restored);
    const deletions = filterChanges('deleted').map(({ user, caller: { actor } }) => {
      const dataset = actor.kind === 'import' ? actor.revertedDataset : undefined;
      return { user, reverted_dataset: dataset ?? null };
    });
    if (deletions.length === 0) return new Map();
    const time = now();
    await this.deleted.moveToDeletedUsers(tx, deletions, time);
    const uuids = deletions.map(({ user }) => user.uuid);
    return this.deleted.removeFromGroups(tx, uuids, time);
  }

  private async saveLookups(tx: Sql, stored: readonly StoredChange[]): Promise<void> {
    const taken = stored.flatMap(({ user: { uuid: user_uuid }, constraint }) =>
      listDistinct(constraint?.taken ?? []).map((identifier) => ({ identifier, user_uuid })),
    );
    const released = listDistinct(stored.flatMap(({ constraint }) => constraint?.released ?? []));
    await this.repository.updateIdentifiers(tx, released, taken);

    await this.repository.updateRoles(tx, {
      removed: stored.flatMap(({ before, after }) => subtractRoles(before, after)),
      added: stored.flatMap(({ before, after }) => subtractRoles(after, before)),
    });
    await this.repository.updateWords(tx, diffWords(stored));
    await this.repository.updateValues(tx, diffValues(stored));
  }

  private async endSessions(tx: Sql, stored: readonly StoredChange[]): Promise<void> {
    const all = stored.filter(shouldEndAllSessions);
    const others = stored.filter((change) => !shouldEndAllSessions(change) && changesPassword(change));
    const uuidsOf = (changes: readonly StoredChange[]): string[] => changes.map(({ user }) => user.uuid);
    const ended = stored.filter((change) => !change.after || changesPassword(change));
    if (ended.length > 0) await this.throttle.endDevices(tx, uuidsOf(ended));
    if (all.length > 0) await this.sessions.endForUsers(tx, uuidsOf(all));
    for (const [own, changes] of Map.groupBy(others, ownSessionOf))
      await this.sessions.endForUsers(tx, uuidsOf(changes), own);
  }
}

/** Returns the user before the change if the change releases the username. A change of case does not release it. */
function listReleased({ before, after }: StoredChange): User[] {
  if (!before || before.username === after?.username) return [];
  return after && toLoginKey(before.username) === toLoginKey(after.username) ? [] : [before];
}

const ownSessionOf = ({ caller: { actor } }: StoredChange): string | undefined =>
  actor.kind === 'user' ? actor.sessionId : undefined;

function toStoredChange(outcome: ChangeOutcome, change: CheckedChange | undefined): StoredChange[] {
  if (!change || outcome.outcome === 'error' || outcome.outcome === 'unchanged') return [];
  const { user } = outcome;
  return [{ ...change, user, after: outcome.outcome === 'deleted' ? undefined : user, outcome }];
}

const shouldEndAllSessions = ({ before, after }: StoredChange): boolean =>
  before !== undefined && (!after || shouldEndSessions(before, after));

const changesPassword = ({ before, user }: StoredChange): boolean =>
  before !== undefined && before.password_hash !== user.password_hash;

/** Returns look-up rows for the roles that `user` has and `other` lacks. */
function subtractRoles(user: User | undefined, other: User | undefined): UserRoleEntity[] {
  if (!user) return [];
  const others = other ? rolesOf(other) : [];
  return rolesOf(user).flatMap((role) => (others.includes(role) ? [] : { role, user_uuid: user.uuid }));
}

function diffWords(stored: readonly StoredChange[]) {
  const removed: UserWordEntity[] = [];
  const added: UserWordEntity[] = [];
  const changed: UserWordEntity[] = [];
  for (const { before, prepared, after } of stored) {
    if (prepared) added.push(...prepared.words);
    if (!before || (after && hasSameWords(before, after))) continue;
    const old = new Map(toWordRows(before).map((row) => [row.word, row]));
    for (const row of after ? toWordRows(after) : []) {
      const oldRow = old.get(row.word);
      old.delete(row.word);
      if (oldRow?.weight !== row.weight || oldRow.public_weight !== row.public_weight) changed.push(row);
    }
    removed.push(...old.values());
  }
  return { removed, added, changed };
}

function diffValues(stored: readonly StoredChange[]) {
  const removed: UserValueEntity[] = [];
  const added: UserValueEntity[] = [];
  for (const { before, prepared, after } of stored) {
    if (prepared) added.push(...prepared.values);
    if (!before || (after && hasSameValues(before, after))) continue;
    const old = new Map(toValueRows(before).map((row) => [`${row.attribute} ${row.value_key}`, row]));
    if (after)
      added.push(...toValueRows(after).filter((row) => !old.delete(`${row.attribute} ${row.value_key}`)));
    removed.push(...old.values());
  }
  return { removed, added };
}

const listDistinct = (identifiers: readonly Identifier[]) => [
  ...new Set(identifiers.map(({ identifier }) => identifier)),
];

function sumCountDeltas(stored: readonly StoredChange[]): Map<CounterName, number> {
  const deltas = new Map<CounterName, number>();
  const add = (user: User | undefined, delta: number): void => {
    for (const name of countersOf(user)) deltas.set(name, (deltas.get(name) ?? 0) + delta);
  };
  for (const { before, after } of stored) {
    add(before, -1);
    add(after, 1);
    if (hasWordChange(before, after)) deltas.set('word_changes', 1);
  }
  return deltas;
}

/** Returns true if a change can affect the matches of search words. The matches also depend on the status. */
const hasWordChange = (before: User | undefined, after: User | undefined): boolean =>
  !before || !after || before.status !== after.status || !hasSameWords(before, after);

function countersOf(user: User | undefined): CounterName[] {
  if (!user) return [];
  return isActiveWebmaster(user) ? [user.status, 'webmasters'] : [user.status];
}

/** Maximum number of groups in the audit event of a deleted user. Further groups are omitted. */
const MAX_AUDITED_GROUPS = 1000;

function toAuditEvent({ caller, before, user, outcome }: StoredChange, formerGroups: FormerGroups) {
  const groups = formerGroups.get(user.uuid);
  return {
    caller,
    action: getAction(outcome.outcome, before, user),
    target: { kind: 'user' as const, id: user.uuid },
    changes: groups ? addFormerGroups(outcome.changes, groups) : outcome.changes,
  };
}

function addFormerGroups({ list }: Changes, groups: readonly string[]): Changes {
  const old = groups.slice(0, MAX_AUDITED_GROUPS);
  return Changes.fromList([...list, { field: 'groups', old, new: null }]);
}

function getAction(outcome: ChangeOutcome['outcome'], before: User | undefined, after: User): AuditAction {
  if (outcome === 'updated' && before?.status === after.status) return 'user.updated';
  if (outcome === 'deleted' || outcome === 'restored') return `user.${outcome}`;
  if (!before) return 'user.created';
  return after.status === 'Blocked' ? 'user.blocked' : 'user.reactivated';
}
