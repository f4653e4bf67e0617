import { Injectable } from '@nestjs/common';
import { type Caller, isSelf } from '../access/actor.js';
import { ProblemError, validationFailed } from '../common/errors.js';
import { now } from '../common/time.js';
import type { Sql } from '../database/sql.js';
import { differences } from './user.changes.js';
import { markConflicts, takenIdentifiers } from './user.conflicts.js';
import { markManagers, newManagers } from './user.managers.js';
import { newUser, patched, wholeErrors } from './user.rules.js';
import { type Draft, type Outcome, type UserChange, webmasterDelta } from './user.set.js';
import { UserStore } from './user.store.js';
import { UserWriteRepository } from './user-write.repository.js';

/**
 * The one way in which users change (ADR 0002). A set of changes in, an outcome each out; the API sends sets of one,
 * the importer sets of hundreds, and the number of statements does not depend on the size of the set.
 * A change that fails does not touch the others. Conflicts are judged on the end state of the set.
 */
@Injectable()
export class UserWriter {
  constructor(
    private readonly repository: UserWriteRepository,
    private readonly store: UserStore,
  ) {}

  /**
   * Runs in the caller's transaction, which may run again after a race: nothing outside of `tx` changes here.
   * @param changes checked input (`readInput`, `settle`), passwords hashed.
   */
  async apply(tx: Sql, changes: readonly UserChange[], caller: Caller): Promise<Outcome[]> {
    const time = now();
    const drafts = await this.draft(tx, changes, time);
    drafts.forEach((draft) => (draft.error ??= ruleError(draft, caller)));
    await this.markConflictsAndManagers(tx, drafts);
    await this.markLastWebmaster(tx, drafts);
    drafts.forEach((draft, index) => (draft.error ??= versionError(draft, changes[index]?.ifVersions)));
    const outcomes = drafts.map((draft) => toOutcome(draft, time));
    await this.store.save(tx, drafts, outcomes, caller);
    return outcomes;
  }

  private async draft(tx: Sql, changes: readonly UserChange[], time: string): Promise<Draft[]> {
    if (new Set(changes.map(({ uuid }) => uuid)).size < changes.length) {
      throw new Error('a set of changes names a user twice');
    }
    const updates = changes.filter(({ kind }) => kind === 'update');
    const current = await this.repository.lock(
      tx,
      updates.map(({ uuid }) => uuid),
    );
    return changes.map(({ kind, uuid, patch }) => {
      const before = current.get(uuid);
      const missing = kind === 'update' && !before;
      return {
        before,
        after: patched(before ?? newUser(uuid, time), patch),
        error: missing ? new ProblemError('not_found', `There is no user ${uuid}.`) : undefined,
      };
    });
  }

  /** A draft that fails keeps what it had, which may fail others: repeated until nothing new fails. */
  private async markConflictsAndManagers(tx: Sql, drafts: readonly Draft[]): Promise<void> {
    const moving = newManagers(drafts).flatMap(({ after }) => after.manager_uuid ?? []);
    let chain = new Map<string, string | null>();
    if (moving.length > 0) {
      // Two changes that are harmless alone may close a circle together: they take turns.
      await this.repository.lockCounter(tx, 'manager_changes');
      chain = await this.repository.managerChain(tx, [...new Set(moving)]);
    }
    const owners = await this.repository.owners(tx, takenIdentifiers(drafts));
    let failed = true;
    while (failed) failed = [markManagers(drafts, chain), markConflicts(drafts, owners)].includes(true);
  }

  private async markLastWebmaster(tx: Sql, drafts: readonly Draft[]): Promise<void> {
    const leaving = drafts.filter((draft) => webmasterDelta(draft) < 0);
    if (leaving.length === 0) return;
    const coming = drafts.filter((draft) => webmasterDelta(draft) > 0).length;
    let left = coming + (await this.repository.lockCounter(tx, 'webmasters'));
    for (const draft of leaving) {
      if (left > 1) left--;
      else draft.error = new ProblemError('last_webmaster', 'This user is the last active Webmaster.');
    }
  }
}

export const selfBlock = () => new ProblemError('self_block', 'Nobody may block themselves.');

function ruleError({ before, after }: Draft, caller: Caller): ProblemError | undefined {
  if (before?.status === 'Active' && after.status === 'Blocked' && isSelf(caller.actor, after.uuid)) {
    return selfBlock();
  }
  const errors = wholeErrors(after);
  return errors.length > 0 ? validationFailed(errors) : undefined;
}

function versionError({ before }: Draft, versions: readonly number[] | undefined): ProblemError | undefined {
  if (!versions || (before && versions.includes(before.version))) return undefined;
  return new ProblemError('precondition_failed', 'The user has changed since it was read.');
}

function toOutcome({ before, after, error }: Draft, time: string): Outcome {
  if (error) return { outcome: 'error', error };
  const changes = differences(before, after);
  if (!before) return { outcome: 'created', user: after, changes };
  if (changes.length === 0) return { outcome: 'unchanged', user: before, changes };
  return { outcome: 'updated', user: { ...after, updated: time, version: before.version + 1 }, changes };
}
