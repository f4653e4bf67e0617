import { Injectable } from '@nestjs/common';
import { type Caller, isBehind } from '../../access/actor.js';
import { KeyFuse } from '../../api-keys/fuse/key-fuse.service.js';
import { Changes } from '../../platform/common/field-changes.js';
import { now } from '../../platform/common/time.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import { blocksSelf, newUser, patched, privilegeFailure, wholeErrors } from '../rules/user-rules.js';
import { differences, fieldsGone } from '../model/user.js';
import type { User } from '../model/user.js';
import {
  type ValidatedSetChange,
  type Outcome,
  type PreparedUser,
  type UserChange,
  createdAt,
  prepareUser,
  rowsOf,
} from './change-set.js';
import { type SetConstraint, constraintOf, deletionConstraint } from '../set-rules/set-constraint.js';
import { DeletedUsersRepository } from './deleted-users.repository.js';
import { SetValidator } from '../set-rules/set-validator.js';
import {
  type Failure,
  SELF_BLOCK,
  SELF_DELETION,
  STALE,
  notDeleted,
  notFound,
  toProblem,
} from '../rules/failure.js';
import { UserCounts } from './user-counts.service.js';
import { UserPersistence } from './user-persistence.service.js';
import { UserWriteRepository } from './user-write.repository.js';

/**
 * The one way in which users change (ADR 2). A set of changes in, an outcome each out; the API sends sets of one,
 * the importer sets of hundreds, and the number of statements does not depend on the size of the set.
 * A change that fails does not touch the others. Conflicts are evaluated on the end state of the set.
 */
@Injectable()
export class UserWriter {
  constructor(
    private readonly repository: UserWriteRepository,
    private readonly deleted: DeletedUsersRepository,
    private readonly store: UserPersistence,
    private readonly counts: UserCounts,
    private readonly fuse: KeyFuse,
  ) {}

  /** The users, whom nobody else changes until the transaction ends. */
  async lock(tx: Sql, uuids: readonly string[]): Promise<ReadonlyMap<string, User>> {
    return this.repository.lock(tx, uuids);
  }

  /**
   * Runs in the caller's transaction, which may run again after a race: nothing outside of `tx` changes here.
   * @param changes checked input (`validateChange`), passwords hashed.
   * @throws FuseBlownError where the set would block too many users for the key that asks for it.
   */
  async apply(tx: Sql, changes: readonly UserChange[], caller: Caller): Promise<Outcome[]> {
    const time = now();
    const validated = await this.validate(tx, changes, caller, time);
    const gone = new Set(validated.flatMap((each) => (isGood(each, 'delete') ? each.after.uuid : [])));
    const all = gone.size > 0 ? await this.withReports(tx, validated, gone) : validated;
    const outcomes = all.map((change) => toOutcome(change, time));
    const blocked = deactivated(all, outcomes);
    if (blocked.length > 0) await this.fuse.count(tx, caller, blocked, () => this.counts.active(tx));
    await this.store.save(tx, all, outcomes, caller);
    return outcomes.slice(0, changes.length);
  }

  /** Applies one change. @returns the user after it. @throws what `toError` returns for the failures of a refused change. */
  async applyOne(
    tx: Sql,
    change: UserChange,
    caller: Caller,
    toError: (failures: readonly Failure[]) => Error = toProblem,
  ): Promise<User> {
    const [outcome] = await this.apply(tx, [change], caller);
    if (!outcome) throw new Error('A set of one change has no outcome.');
    if (outcome.outcome === 'error') throw toError(outcome.failures);
    return outcome.user;
  }

  /** Appends an update that clears `manager_uuid` for every report of a deleted manager. */
  private async withReports(
    tx: Sql,
    validated: readonly ValidatedSetChange[],
    gone: ReadonlySet<string>,
  ): Promise<readonly ValidatedSetChange[]> {
    const reports = await this.deleted.lockReports(tx, [...gone]);
    const changing = new Set(
      validated.flatMap((each) => (each.failures.length === 0 ? each.after.uuid : [])),
    );
    const others = reports.filter(({ uuid }) => !changing.has(uuid));
    return [
      ...validated.map((each) =>
        isGood(each, 'update') ? { ...each, after: withoutManager(each.after, gone) } : each,
      ),
      ...others.map((before): ValidatedSetChange => ({
        kind: 'update',
        before,
        after: withoutManager(before, gone),
        failures: [],
      })),
    ];
  }

  private async validate(
    tx: Sql,
    changes: readonly UserChange[],
    caller: Caller,
    time: string,
  ): Promise<ValidatedSetChange[]> {
    if (new Set(changes.map(({ uuid }) => uuid)).size < changes.length)
      throw new Error('a set of changes names a user twice');
    const current = await this.current(tx, changes);
    const states = changes.map((change) => ({
      change,
      ...stateOf(change, current.get(change.uuid), caller, time),
    }));
    const own = states.map(({ kind, before, after, prepared, failures }, index) => {
      if (failures.length > 0) return undefined;
      if (kind === 'delete') return deletionConstraint(index + 1, after);
      return constraintOf(index + 1, before, after, { identifiers: prepared?.identifiers });
    });
    const constraints = own.filter((constraint) => constraint !== undefined);
    const failures =
      constraints.length > 0 ? await this.validateSet(tx, constraints, states, caller) : undefined;
    return states.map(
      ({ kind, before, after, prepared, failures: alone, change }, index): ValidatedSetChange => {
        const others = failures?.get(index + 1) ?? (isStale(change, before) ? [STALE] : []);
        const all = alone.length > 0 ? alone : others;
        return { kind, before, after, prepared, constraint: own[index], failures: all };
      },
    );
  }

  /** Returns the users that changes are about, locked. New users are not there yet, restored users are read among the deleted. */
  private async current(tx: Sql, changes: readonly UserChange[]): Promise<ReadonlyMap<string, User>> {
    const locked = changes.flatMap(({ locked: user }) => user ?? []);
    const users = new Map(locked.map((user) => [user.uuid, user]));
    const unread = changes.filter(({ kind, uuid }) => kind !== 'create' && !users.has(uuid));
    return unread.length > 0 ? new Map([...users, ...(await this.lockAll(tx, unread))]) : users;
  }

  private async lockAll(tx: Sql, changes: readonly UserChange[]): Promise<ReadonlyMap<string, User>> {
    const restored = changes.flatMap(({ kind, uuid }) => (kind === 'restore' ? uuid : []));
    const present = changes.flatMap(({ kind, uuid }) => (kind === 'restore' ? [] : uuid));
    const users = await this.repository.lock(tx, present);
    return restored.length > 0 ? new Map([...users, ...(await this.lockDeleted(tx, restored))]) : users;
  }

  /** Locks deleted users. @returns them in the state in which they return. */
  private async lockDeleted(tx: Sql, uuids: readonly string[]): Promise<ReadonlyMap<string, User>> {
    const deleted = await this.deleted.lock(tx, uuids);
    const managers = [...deleted.values()].flatMap(({ manager_uuid }) => manager_uuid ?? []);
    const alive = await this.repository.lock(tx, [...new Set(managers)]);
    return new Map([...deleted].map(([uuid, user]) => [uuid, returningUser(user, alive)]));
  }

  /** Validates the set rules. Most changes of one user have no constraint and never come here. */
  private async validateSet(
    tx: Sql,
    constraints: readonly SetConstraint[],
    states: readonly { change: UserChange; before: User | undefined }[],
    { actor }: Caller,
  ): Promise<ReadonlyMap<number, readonly Failure[]>> {
    const owners = await this.repository.owners(
      tx,
      constraints.flatMap(({ taken }) => taken.map(({ identifier }) => identifier)),
    );
    const above = await this.managersAbove(tx, constraints);
    const leaves = constraints.some(({ webmaster }) => webmaster !== undefined && webmaster !== 'gained');
    const webmasters = leaves ? await this.webmasters(tx) : 0;
    const validate = (withdrawn: readonly number[]): ReadonlyMap<number, readonly Failure[]> => {
      const set = new SetValidator({
        nameOf: (change) => `user ${states[change - 1]?.change.uuid ?? ''}`,
        links: actor.kind === 'import',
      });
      for (const constraint of constraints) set.add(constraint, owners);
      for (const change of withdrawn) set.withdraw(change);
      for (const [user, manager] of above) set.addExistingManager(user, manager);
      return set.validate(webmasters);
    };
    const stale = states.flatMap(({ change, before }, index) => (isStale(change, before) ? [index + 1] : []));
    const failures = validate([]);
    if (stale.length === 0) return failures;
    // A stale change reports its other failures too (interface §1, order of checks), and has no effect on other changes.
    const ofStale = stale.map((change) => [change, failures.get(change) ?? [STALE]] as const);
    return new Map([...validate(stale), ...ofStale]);
  }

  /** Two Webmasters that leave at once would each see the other: they take turns. */
  private async webmasters(tx: Sql): Promise<number> {
    await this.repository.takeTurn(tx, 'webmasters');
    return this.counts.webmasters(tx);
  }

  private async managersAbove(
    tx: Sql,
    constraints: readonly SetConstraint[],
  ): Promise<Map<string, string | null>> {
    if (!constraints.some(({ manager, deletes }) => deletes ?? manager?.after)) return new Map();
    // Two changes that are harmless alone may close a circle together, or name a manager who is deleted: they take turns.
    await this.repository.takeTurn(tx, 'managers');
    const named = constraints.flatMap(({ manager }) => [manager?.after ?? [], manager?.before ?? []].flat());
    return this.repository.managersAbove(tx, [...new Set(named)]);
  }
}

/** The users that good changes deactivate or delete: what the fuse of a key counts, whichever way they are made. */
function deactivated(validated: readonly ValidatedSetChange[], outcomes: readonly Outcome[]): string[] {
  return validated.flatMap(({ before, after }, index) => {
    const outcome = outcomes[index]?.outcome;
    const isBlocked = before?.status === 'Active' && after.status !== 'Active' && outcome === 'updated';
    return isBlocked || outcome === 'deleted' ? after.uuid : [];
  });
}

const isGood = ({ kind, failures }: ValidatedSetChange, wanted: UserChange['kind']): boolean =>
  kind === wanted && failures.length === 0;

/** A change that names a manager who is deleted has failed: what is left here was the manager before. */
const withoutManager = (user: User, gone: ReadonlySet<string>): User =>
  user.manager_uuid !== null && gone.has(user.manager_uuid) ? { ...user, manager_uuid: null } : user;

/** A deleted user as it comes back: out of its groups, and without a manager who is gone, too. */
function returningUser(user: User, managers: ReadonlyMap<string, User>): User {
  const { manager_uuid: manager } = user;
  return {
    ...user,
    group_roles: [],
    manager_uuid: manager !== null && managers.has(manager) ? manager : null,
    version: user.version + 1,
  };
}

/** Applies a change to its user, with the failures that depend on no other change. */
function stateOf(
  change: UserChange,
  before: User | undefined,
  caller: Caller,
  time: string,
): ValidatedSetChange {
  const { kind, uuid, patch } = change;
  if (kind === 'create') return created(change, caller, time);
  const after = patched(before ?? newUser(uuid, time), patch);
  if (kind === 'restore') return restored(before, after, caller, time);
  if (!before) return { kind, before, after, failures: [notFound(uuid)] };
  if (kind === 'delete') return { kind, before, after: before, failures: deletionFailures(before, caller) };
  if (blocksSelf(caller, before, after)) return { kind, before, after, failures: [SELF_BLOCK] };
  const refused = privilegeFailure(caller.actor, before, after, change.byProvider);
  return { kind, before, after, failures: refused ? [refused] : wholeErrors(after) };
}

function created(change: UserChange, { actor }: Caller, time: string): ValidatedSetChange {
  const prepared = change.prepared ?? prepareUser(change.uuid, change.patch);
  const refused = privilegeFailure(actor, undefined, prepared.user);
  const failures = refused ? [refused] : wholeErrors(prepared.user);
  return { kind: 'create', before: undefined, after: createdAt(prepared.user, time), prepared, failures };
}

function deletionFailures(before: User, { actor }: Caller): Failure[] {
  if (isBehind(actor, before.uuid)) return [SELF_DELETION];
  const refused = privilegeFailure(actor, before, undefined);
  return refused ? [refused] : [];
}

/** The user was nobody until now, as a new one. */
function restored(
  deleted: User | undefined,
  nobody: User,
  { actor }: Caller,
  time: string,
): ValidatedSetChange {
  const kind = 'restore';
  if (!deleted) return { kind, before: undefined, after: nobody, failures: [notDeleted(nobody.uuid)] };
  const after = { ...deleted, updated: time };
  const refused = privilegeFailure(actor, undefined, after);
  const failures = refused ? [refused] : wholeErrors(after);
  return { kind, before: undefined, after, prepared: rowsOf(after), failures };
}

function isStale({ ifVersions }: UserChange, before: User | undefined): boolean {
  return ifVersions !== undefined && !(before && ifVersions.includes(before.version));
}

const toNewOutcome = (kind: UserChange['kind'], user: User, { changes }: PreparedUser): Outcome => ({
  outcome: kind === 'restore' ? 'restored' : 'created',
  user,
  changes,
});

function toOutcome({ kind, before, after, prepared, failures }: ValidatedSetChange, time: string): Outcome {
  if (failures.length > 0) return { outcome: 'error', failures };
  if (kind === 'delete') return { outcome: 'deleted', user: after, changes: Changes.of(fieldsGone(after)) };
  if (prepared) return toNewOutcome(kind, after, prepared);
  const changes = Changes.of(differences(before, after));
  if (!before || changes.isEmpty) return { outcome: 'unchanged', user: before ?? after, changes };
  return { outcome: 'updated', user: { ...after, updated: time, version: before.version + 1 }, changes };
}
