import { Injectable } from '@nestjs/common';
import { type Caller, isBehind } from '../../access/actor.js';
import { KeyFuse } from '../../api-keys/fuse/key-fuse.service.js';
import { Changes } from '../../common/changes.js';
import { now } from '../../common/time.js';
import type { Sql } from '../../database/engine/sql.js';
import { newUser, patched, wholeErrors } from '../input/user-rules.js';
import { differences } from '../model/user.js';
import type { User } from '../model/user.js';
import type { JudgedChange, Outcome, UserChange } from './change-set.js';
import { type Claim, claimOf } from './claim.js';
import { EndState } from './end-state.js';
import { type Failure, SELF_BLOCK, STALE, notFound } from './failure.js';
import { createdAt, prepareUser } from './prepared-user.js';
import { privilegeFailure } from './privilege.js';
import { UserCounts } from '../counts/user-counts.service.js';
import { UserStore } from './user-store.service.js';
import { UserWriteRepository } from './user-write.repository.js';

/**
 * The one way in which users change (ADR 2). A set of changes in, an outcome each out; the API sends sets of one,
 * the importer sets of hundreds, and the number of statements does not depend on the size of the set.
 * A change that fails does not touch the others. Conflicts are judged on the end state of the set.
 */
@Injectable()
export class UserWriter {
  constructor(
    private readonly repository: UserWriteRepository,
    private readonly store: UserStore,
    private readonly counts: UserCounts,
    private readonly fuse: KeyFuse,
  ) {}

  /**
   * Runs in the caller's transaction, which may run again after a race: nothing outside of `tx` changes here.
   * @param changes checked input (`readInput`, `settle`), passwords hashed.
   * @throws FuseBlown where the set would block too many users for the key that asks for it.
   */
  async apply(tx: Sql, changes: readonly UserChange[], caller: Caller): Promise<Outcome[]> {
    const time = now();
    const judged = await this.judge(tx, changes, caller, time);
    const outcomes = judged.map((change) => toOutcome(change, time));
    await this.fuse.count(tx, caller, deactivated(judged, outcomes), () => this.counts.active(tx));
    await this.store.save(tx, judged, outcomes, caller);
    return outcomes;
  }

  private async judge(
    tx: Sql,
    changes: readonly UserChange[],
    caller: Caller,
    time: string,
  ): Promise<JudgedChange[]> {
    if (new Set(changes.map(({ uuid }) => uuid)).size < changes.length) {
      throw new Error('a set of changes names a user twice');
    }
    const updates = changes.filter(({ kind }) => kind === 'update').map(({ uuid }) => uuid);
    const current = await this.repository.lock(tx, updates);
    const states = changes.map((change) => ({
      change,
      ...stateOf(change, current.get(change.uuid), caller, time),
    }));
    const claimed = states.map(({ before, after, prepared, failures }, index) =>
      failures.length > 0
        ? undefined
        : claimOf(index + 1, before, after, { identifiers: prepared?.identifiers }),
    );
    const claims = claimed.filter((claim) => claim !== undefined);
    const failures = claims.length > 0 ? await this.judgeClaims(tx, claims, states, caller) : undefined;
    return states.map(({ before, after, prepared, failures: own, change }, index): JudgedChange => {
      const others = failures?.get(index + 1) ?? (isStale(change, before) ? [STALE] : []);
      const all = own.length > 0 ? own : others;
      return { before, after, prepared, claim: claimed[index], failures: all };
    });
  }

  /** Only changes with claims come here: most changes of one user touch no other. */
  private async judgeClaims(
    tx: Sql,
    claims: readonly Claim[],
    states: readonly { change: UserChange; before: User | undefined }[],
    { actor }: Caller,
  ): Promise<ReadonlyMap<number, readonly Failure[]>> {
    const owners = await this.repository.owners(
      tx,
      claims.flatMap(({ taken }) => taken.map(({ identifier }) => identifier)),
    );
    const above = await this.managersAbove(tx, claims);
    const leaves = claims.some(({ webmaster }) => webmaster !== undefined && webmaster !== 'gained');
    const webmasters = leaves ? await this.webmasters(tx) : 0;
    const judge = (withdrawn: readonly number[]): ReadonlyMap<number, readonly Failure[]> => {
      const state = new EndState({
        nameOf: (change) => `user ${states[change - 1]?.change.uuid ?? ''}`,
        links: actor.kind === 'import',
      });
      for (const claim of claims) state.add(claim, owners);
      for (const change of withdrawn) state.withdraw(change);
      for (const [user, manager] of above) state.know(user, manager);
      return state.judge(webmasters);
    };
    const stale = states.flatMap(({ change, before }, index) => (isStale(change, before) ? [index + 1] : []));
    const failures = judge([]);
    if (stale.length === 0) return failures;
    // A stale change reports what else is wrong with it (interface §1, order of checks), and claims nothing from the others.
    const ofStale = stale.map((change) => [change, failures.get(change) ?? [STALE]] as const);
    return new Map([...judge(stale), ...ofStale]);
  }

  /** Two Webmasters that leave at once would each see the other: they take turns. */
  private async webmasters(tx: Sql): Promise<number> {
    await this.repository.takeTurn(tx, 'webmasters');
    return this.counts.webmasters(tx);
  }

  private async managersAbove(tx: Sql, claims: readonly Claim[]): Promise<Map<string, string | null>> {
    if (!claims.some(({ manager }) => manager?.after)) return new Map();
    // Two changes that are harmless alone may close a circle together: they take turns.
    await this.repository.takeTurn(tx, 'managers');
    const named = claims.flatMap(({ manager }) => [manager?.after ?? [], manager?.before ?? []].flat());
    return this.repository.managersAbove(tx, [...new Set(named)]);
  }
}

/** The active users that good changes make inactive: what the fuse of a key counts, whichever way they are made. */
function deactivated(judged: readonly JudgedChange[], outcomes: readonly Outcome[]): string[] {
  return judged.flatMap(({ before, after }, index) =>
    before?.status === 'Active' && after.status !== 'Active' && outcomes[index]?.outcome === 'updated'
      ? before.uuid
      : [],
  );
}

/** What a change makes of its user, with the failures that no other change has a part in. */
function stateOf(change: UserChange, before: User | undefined, caller: Caller, time: string): JudgedChange {
  const { kind, uuid, patch } = change;
  if (kind === 'create') {
    const prepared = change.prepared ?? prepareUser(uuid, patch);
    const refused = privilegeFailure(caller.actor, undefined, prepared.user);
    const failures = refused ? [refused] : wholeErrors(prepared.user);
    return { before, after: createdAt(prepared.user, time), prepared, failures };
  }
  const after = patched(before ?? newUser(uuid, time), patch);
  if (!before) return { before, after, failures: [notFound(uuid)] };
  if (blocksSelf(caller, before, after)) return { before, after, failures: [SELF_BLOCK] };
  const refused = privilegeFailure(caller.actor, before, after);
  return { before, after, failures: refused ? [refused] : wholeErrors(after) };
}

/** Whether a change would block the account that makes it, or that has started or approved the import that makes it. */
export function blocksSelf(
  { actor }: Pick<Caller, 'actor'>,
  before: Pick<User, 'uuid' | 'status'> | undefined,
  { status }: { status?: string | null | undefined },
): boolean {
  return before?.status === 'Active' && status === 'Blocked' && isBehind(actor, before.uuid);
}

function isStale({ ifVersions }: UserChange, before: User | undefined): boolean {
  return ifVersions !== undefined && !(before && ifVersions.includes(before.version));
}

function toOutcome({ before, after, prepared, failures }: JudgedChange, time: string): Outcome {
  if (failures.length > 0) return { outcome: 'error', failures };
  if (prepared) return { outcome: 'created', user: after, changes: prepared.changes };
  const changes = Changes.of(differences(before, after));
  if (!before || changes.isEmpty) return { outcome: 'unchanged', user: before ?? after, changes };
  return { outcome: 'updated', user: { ...after, updated: time, version: before.version + 1 }, changes };
}
