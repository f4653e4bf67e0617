import { Injectable } from '@nestjs/common';
import { type Caller, isSelf } from '../../access/actor.js';
import { ProblemError, validationFailed } from '../../common/errors.js';
import { now } from '../../common/time.js';
import type { Sql } from '../../database/engine/sql.js';
import { differences } from '../model/differences.js';
import { takenIdentifiers } from './conflicts.js';
import { type Facts, judge } from './judge.js';
import { newManagers } from './managers.js';
import { newUser, patched, wholeErrors } from '../input/user-rules.js';
import { type Draft, type Outcome, type UserChange, webmasterDelta } from './change-set.js';
import { UserStore } from './user-store.service.js';
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
    judge(drafts, await this.facts(tx, drafts));
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
    return changes.map(({ kind, uuid, patch, ifVersions }) => {
      const before = current.get(uuid);
      const missing = kind === 'update' && !before;
      return {
        before,
        after: patched(before ?? newUser(uuid, time), patch),
        ifVersions,
        error: missing ? new ProblemError('not_found', `There is no user ${uuid}.`) : undefined,
      };
    });
  }

  /** What the judgement needs of the database, each kind in one statement. */
  private async facts(tx: Sql, drafts: readonly Draft[]): Promise<Facts> {
    const managers = [...new Set(newManagers(drafts).flatMap(({ after }) => after.manager_uuid ?? []))];
    // Two changes that are harmless alone may close a circle together: they take turns.
    if (managers.length > 0) await this.repository.lockCounter(tx, 'manager_changes');
    const leaves = drafts.some((draft) => webmasterDelta(draft) < 0);
    return {
      managers: managers.length > 0 ? await this.repository.managerChain(tx, managers) : new Map(),
      owners: await this.repository.owners(tx, takenIdentifiers(drafts)),
      webmasters: leaves ? await this.repository.lockCounter(tx, 'webmasters') : 0,
    };
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

function toOutcome({ before, after, error }: Draft, time: string): Outcome {
  if (error) return { outcome: 'error', error };
  const changes = differences(before, after);
  if (!before) return { outcome: 'created', user: after, changes };
  if (changes.length === 0) return { outcome: 'unchanged', user: before, changes };
  return { outcome: 'updated', user: { ...after, updated: time, version: before.version + 1 }, changes };
}
