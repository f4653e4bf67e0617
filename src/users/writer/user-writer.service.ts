import { Injectable } from '@nestjs/common';
import { type Caller, getUsageKey, isResponsibleFor } from '../../access/actor.js';
import { KeyFuse } from '../../api-keys/fuse/key-fuse.service.js';
import { Changes } from '../../platform/common/field-changes.js';
import { now } from '../../platform/common/time.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import {
  isSelfBlock,
  createEmptyUser,
  applyPatch,
  checkPrivilege,
  validateWholeUser,
} from '../rules/user-rules.js';
import { type User, diffUsers, isTemporary, listRemovedFields } from '../model/user.js';
import {
  type CallerChange,
  type CheckedChange,
  type ChangeOutcome,
  type PreparedUser,
  type UserChange,
  prepareUser,
  toPreparedUser,
  toRestoredUsers,
} from './change-set.js';
import {
  type SetConstraint,
  createConstraint,
  createDeletionConstraint,
} from '../set-rules/set-constraint.js';
import { DeletedUsersRepository } from './deleted-users.repository.js';
import { findDependentChanges } from '../set-rules/independent-changes.js';
import { SetValidator } from '../set-rules/set-validator.js';
import {
  DEPENDENT_CHANGE,
  type Failure,
  SELF_BLOCK,
  SELF_DELETION,
  STALE_VERSION,
  createNotFoundFailure,
} from '../rules/failure.js';
import { UserCounts } from './user-counts.service.js';
import { UserChangeStore } from './user-change-store.service.js';
import { UserWriteRepository } from './user-write.repository.js';

/**
 * Applies changes of users (ADR 2): one for an API request, a batch for an import. The number of statements does not
 * depend on the number of changes. A failed change does not affect independent changes.
 */
@Injectable()
export class UserWriter {
  constructor(
    private readonly repository: UserWriteRepository,
    private readonly deleted: DeletedUsersRepository,
    private readonly store: UserChangeStore,
    private readonly counts: UserCounts,
    private readonly fuse: KeyFuse,
  ) {}

  /** @param skipsLocked see `UserWriteRepository.lock`. */
  async lock(tx: Sql, uuids: readonly string[], skipsLocked?: boolean): Promise<ReadonlyMap<string, User>> {
    return this.repository.lock(tx, uuids, skipsLocked);
  }

  /**
   * Applies a change set in the transaction of the caller. Changes nothing outside of it, because the transaction may
   * be retried.
   * @param changes changes whose fields are valid (`validateChange`) and whose passwords are hashed.
   * @throws FuseBlownError if the changes would block more users than the API key may block.
   */
  async apply(tx: Sql, changes: readonly UserChange[], caller: Caller): Promise<ChangeOutcome[]> {
    return (await this.applyWithReports(tx, changes, caller)).outcomes;
  }

  /**
   * Applies a change set. See `apply`.
   * @returns the outcomes, and the users whose manager was deleted and who have no valid change in the set. These users
   * are as before the deletion.
   */
  async applyWithReports(
    tx: Sql,
    changes: readonly UserChange[],
    caller: Caller,
  ): Promise<{ outcomes: ChangeOutcome[]; reports: User[] }> {
    const all = changes.map((change) => ({ change, caller }));
    return this.applyAll(tx, all);
  }

  /**
   * Applies changes of several callers, each as if it were alone. A change that depends on an earlier change of the set
   * is not applied. Its outcome has the failure `DEPENDENT_CHANGE`. See `apply`.
   */
  async applyIndependent(tx: Sql, changes: readonly CallerChange[]): Promise<ChangeOutcome[]> {
    return (await this.applyAll(tx, changes, true)).outcomes;
  }

  private async applyAll(
    tx: Sql,
    changes: readonly CallerChange[],
    isIndependent = false,
  ): Promise<{ outcomes: ChangeOutcome[]; reports: User[] }> {
    const time = now();
    const validated = await this.validate(tx, changes, time, isIndependent);
    const deletions = validated.filter((change) => isValidChange(change, 'delete'));
    const deleted = new Set(deletions.map(({ after }) => after.uuid));
    const all = deletions[0]
      ? await this.clearDeletedManagers(tx, validated, deleted, deletions[0].caller)
      : validated;
    const outcomes = all.map((change) => toOutcome(change, time));
    const blocking = all.filter((change, index) => isBlocking(change, outcomes[index]));
    const countActive = (): Promise<number> => this.counts.count('Active', tx);
    for (const group of Map.groupBy(blocking, ({ caller }) => getUsageKey(caller.actor)).values()) {
      const uuids = group.map(({ after }) => after.uuid);
      for (const { caller } of group.slice(0, 1))
        await this.fuse.recordBlockedUsers(tx, caller, uuids, countActive);
    }
    await this.store.save(tx, all, outcomes);
    const reports = all.slice(changes.length).flatMap(({ before }) => before ?? []);
    return { outcomes: outcomes.slice(0, changes.length), reports };
  }

  /** Adds an update that clears `manager_uuid` for every user whose manager is deleted. */
  private async clearDeletedManagers(
    tx: Sql,
    validated: readonly CheckedChange[],
    deleted: ReadonlySet<string>,
    caller: Caller,
  ): Promise<readonly CheckedChange[]> {
    const reports = await this.deleted.lockReports(tx, [...deleted]);
    const valid = validated.filter(({ failures }) => failures.length === 0);
    const changed = new Set(valid.map(({ after }) => after.uuid));
    const others = reports.filter(({ uuid }) => !changed.has(uuid));
    return [
      ...validated.map((change) =>
        isValidChange(change, 'update') ? { ...change, after: clearManager(change.after, deleted) } : change,
      ),
      ...others.map((before) => ({
        kind: 'update' as const,
        caller,
        before,
        after: clearManager(before, deleted),
        failures: [],
      })),
    ];
  }

  private async validate(
    tx: Sql,
    changes: readonly CallerChange[],
    time: string,
    isIndependent: boolean,
  ): Promise<CheckedChange[]> {
    const current = await this.lockCurrent(tx, changes);
    const states = changes.map(({ change, caller }, index) => {
      const state = evaluateChange(change, current.get(change.uuid), caller, time);
      return { ...state, change, constraint: toConstraint(state, index + 1) };
    });
    const managers = await this.findManagers(tx, states);
    if (isIndependent) postponeDependentChanges(states, managers);
    const failures = await this.validateSet(tx, states, managers);
    return states.map(({ change, ...state }, index): CheckedChange => {
      const others = failures.get(index + 1) ?? (isStale(change, state) ? [STALE_VERSION] : []);
      return state.failures.length > 0 ? state : { ...state, failures: others };
    });
  }

  private async lockCurrent(tx: Sql, set: readonly CallerChange[]): Promise<ReadonlyMap<string, User>> {
    const changes = set.map(({ change }) => change);
    if (new Set(changes.map(({ uuid }) => uuid)).size < changes.length)
      throw new Error('a change set contains two changes of one user');
    const locked = changes.flatMap(({ locked: user }) => user ?? []);
    const users = new Map(locked.map((user) => [user.uuid, user]));
    const unread = changes.filter(({ kind, uuid }) => kind !== 'create' && !users.has(uuid));
    const restored = unread.flatMap(({ kind, uuid }) => (kind === 'restore' ? uuid : []));
    const existing = unread.flatMap(({ kind, uuid }) => (kind === 'restore' ? [] : uuid));
    for (const [uuid, user] of await this.repository.lock(tx, existing)) users.set(uuid, user);
    for (const [uuid, user] of await this.lockDeleted(tx, restored)) users.set(uuid, user);
    return users;
  }

  /** Locks deleted users, and returns them as they will be after the restore (see `toRestoredUsers`). */
  private async lockDeleted(tx: Sql, uuids: readonly string[]): Promise<ReadonlyMap<string, User>> {
    const deleted = await this.deleted.find(uuids, tx);
    const managers = [...deleted.values()].flatMap(({ manager_uuid }) => manager_uuid ?? []);
    const existing = await this.repository.lock(tx, [...new Set(managers)]);
    return toRestoredUsers(deleted, existing);
  }

  private async validateSet(
    tx: Sql,
    states: readonly ChangeState[],
    managers: ReadonlyMap<string, string | null>,
  ): Promise<ReadonlyMap<number, readonly Failure[]>> {
    const constraints = states.flatMap(({ constraint }) => constraint ?? []);
    if (constraints.length === 0) return new Map();
    const identifiers = constraints.flatMap(({ taken }) => taken.map(({ identifier }) => identifier));
    const owners = await this.repository.findOwners(tx, identifiers);
    const losesAny = constraints.some(({ webmaster }) => webmaster !== undefined && webmaster !== 'gained');
    // Locks the set rule before counting, so that concurrent changes cannot remove all Webmasters.
    if (losesAny) await this.repository.lockRule(tx, 'webmasters');
    const webmasters = losesAny ? await this.counts.count('webmasters', tx) : 0;
    const validateWithout = (withdrawn: readonly number[]): ReadonlyMap<number, readonly Failure[]> => {
      const set = new SetValidator({
        nameOf: (change) => `user ${states[change - 1]?.change.uuid ?? ''}`,
        isImport: states[0]?.caller.actor.kind === 'import',
      });
      for (const constraint of constraints) set.add(constraint, owners);
      for (const change of withdrawn) set.markFailed(change);
      for (const [user, manager] of managers) set.managers.addExistingManager(user, manager);
      return set.validate(webmasters);
    };
    const stale = states.flatMap((state, index) => (isStale(state.change, state) ? [index + 1] : []));
    const failures = validateWithout([]);
    if (stale.length === 0) return failures;
    // Stale changes must not affect other changes, so the set is validated again without them. A change is reported as
    // stale only if it is otherwise valid (interface §1).
    const staleFailures = stale.map((change) => [change, failures.get(change) ?? [STALE_VERSION]] as const);
    return new Map([...validateWithout(stale), ...staleFailures]);
  }

  private async findManagers(tx: Sql, states: readonly ChangeState[]): Promise<Map<string, string | null>> {
    const constraints = states.flatMap(({ constraint }) => constraint ?? []);
    if (!constraints.some(({ manager, deletes }) => deletes ?? manager?.after)) return new Map();
    // Without the lock, concurrent changes could together form a cycle, or set a manager who is being deleted.
    await this.repository.lockRule(tx, 'managers');
    const uuids = constraints.flatMap(({ manager }) => [manager?.after ?? [], manager?.before ?? []].flat());
    return this.repository.findManagers(tx, [...new Set(uuids)]);
  }
}

/** A change that is being validated. */
type ChangeState = CheckedChange & { change: UserChange };

function toConstraint(
  { kind, before, after, prepared, failures }: CheckedChange,
  number: number,
): SetConstraint | undefined {
  if (failures.length > 0) return undefined;
  if (kind === 'delete') return createDeletionConstraint(number, after);
  return createConstraint(number, before, after, { identifiers: prepared?.identifiers });
}

function postponeDependentChanges(
  states: readonly ChangeState[],
  managers: ReadonlyMap<string, string | null>,
): void {
  const valid = states.filter(({ failures }) => failures.length === 0);
  const candidates = valid.map(({ change: { uuid }, constraint }) => ({ uuid, constraint }));
  const dependent = findDependentChanges(candidates, managers);
  for (const [index, state] of valid.entries()) {
    if (dependent.has(index)) Object.assign(state, { constraint: undefined, failures: [DEPENDENT_CHANGE] });
  }
}

/** Returns true for a change that counts towards the fuse of an API key. */
function isBlocking({ before, after }: CheckedChange, outcome: ChangeOutcome | undefined): boolean {
  const isBlocked =
    before?.status === 'Active' && after.status !== 'Active' && outcome?.outcome === 'updated';
  return (isBlocked || outcome?.outcome === 'deleted') && !isTemporary(after);
}

const isValidChange = (change: CheckedChange, kind: UserChange['kind']): boolean =>
  change.kind === kind && change.failures.length === 0;

const clearManager = (user: User, deleted: ReadonlySet<string>): User =>
  user.manager_uuid !== null && deleted.has(user.manager_uuid) ? { ...user, manager_uuid: null } : user;

/** Applies a change to its user in memory. Finds failures that do not depend on other changes. */
function evaluateChange(
  change: UserChange,
  before: User | undefined,
  caller: Caller,
  time: string,
): CheckedChange {
  const { kind, uuid, patch } = change;
  if (kind === 'create') {
    const prepared = change.prepared ?? prepareUser(uuid, patch);
    const after = { ...prepared.user, created: time, updated: time };
    return evaluateAddition(kind, after, prepared, caller);
  }
  if (!before) {
    const missing = createNotFoundFailure(uuid, kind === 'restore' ? 'deleted user' : 'user');
    return { kind, caller, before, after: createEmptyUser(uuid, time), failures: [missing] };
  }
  if (kind === 'restore') {
    const restored = { ...before, updated: time };
    return evaluateAddition(kind, restored, toPreparedUser(restored), caller);
  }
  const after = applyPatch(before, patch);
  if (kind === 'delete')
    return { kind, caller, before, after: before, failures: validateDeletion(before, caller) };
  if (isSelfBlock(caller, before, after)) return { kind, caller, before, after, failures: [SELF_BLOCK] };
  const missing = checkPrivilege(caller.actor, before, after, change.byProvider);
  return { kind, caller, before, after, failures: missing ? [missing] : validateWholeUser(after) };
}

/** Evaluates the creation or the restore of a user, by the same rules. */
function evaluateAddition(
  kind: 'create' | 'restore',
  after: User,
  prepared: PreparedUser,
  caller: Caller,
): CheckedChange {
  const missing = checkPrivilege(caller.actor, undefined, after);
  const failures = missing ? [missing] : validateWholeUser(after);
  return { kind, caller, before: undefined, after, prepared, failures };
}

function validateDeletion(before: User, { actor }: Caller): Failure[] {
  if (isResponsibleFor(actor, before.uuid)) return [SELF_DELETION];
  const missing = checkPrivilege(actor, before, undefined);
  return missing ? [missing] : [];
}

/** Returns true if the user has another version than the change expects. A restored user has no `before`. */
function isStale({ ifVersions }: UserChange, { before, after }: CheckedChange): boolean {
  return ifVersions !== undefined && !ifVersions.includes((before ?? after).version);
}

function toOutcome({ kind, before, after, prepared, failures }: CheckedChange, time: string): ChangeOutcome {
  if (failures.length > 0) return { outcome: 'error', failures };
  if (kind === 'delete')
    return { outcome: 'deleted', user: after, changes: Changes.fromList(listRemovedFields(after)) };
  if (prepared)
    return { outcome: kind === 'restore' ? 'restored' : 'created', user: after, changes: prepared.changes };
  const changes = Changes.fromList(diffUsers(before, after));
  if (!before || changes.isEmpty) return { outcome: 'unchanged', user: before ?? after, changes };
  return { outcome: 'updated', user: { ...after, updated: time, version: before.version + 1 }, changes };
}
