import { Inject, Injectable } from '@nestjs/common';
import type { Caller } from '../../access/actor.js';
import { FuseBlownError, KeyFuse } from '../../api-keys/fuse/key-fuse.service.js';
import { ProblemError } from '../../platform/common/errors.js';
import { Turn } from '../../platform/common/turn.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import { BatchSizer, TransactionRunner } from '../../platform/database/transaction-runner.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import { WriteLock } from '../../platform/database/sqlite/write-lock.js';
import type { UserChange } from '../../users/writer/change-set.js';
import { UserWriter } from '../../users/writer/user-writer.service.js';
import type { User } from '../../users/model/user.js';
import { versionsIn } from '../../platform/http/request-headers.js';
import { ScimUserChanges, type WaitingChange } from '../users/scim-user-changes.service.js';
import { scimProblem } from '../users/scim-users.service.js';
import { type BulkAnswers, type BulkItem, type BulkPart, answerable } from './bulk-item.js';
import type { BulkWork } from './bulk-plan.js';
import { resolved } from './bulk-references.js';
import {
  Again,
  type Attempt,
  type SetRun,
  assertDistinct,
  assertWhole,
  deactivates,
  isLive,
  refusal,
} from './bulk-set.js';
import type { BulkState } from './bulk-state.js';
import type { BulkAnswerDto } from './bulk.dto.js';

/** Operations by which sets grow. */
const BATCH = 10;

/** Sets of operations on distinct users: one `UserWriter.apply` in one transaction each. */
@Injectable()
export class BulkSets {
  private readonly sizer: BatchSizer;

  constructor(
    private readonly changes: ScimUserChanges,
    private readonly writer: UserWriter,
    private readonly fuse: KeyFuse,
    private readonly transactions: TransactionRunner,
    private readonly lock: WriteLock,
    @Inject(DATABASE) database: Database,
  ) {
    this.sizer = new BatchSizer(database.dialect);
  }

  /** The operations that a set may have, so that it holds the database no longer than it may. */
  get size(): number {
    return this.sizer.batches * BATCH;
  }

  /** @throws ProblemError where nothing of the set is done or known, and the request as a whole may be repeated. */
  async run(
    items: readonly BulkItem[],
    state: BulkState,
    answers: BulkAnswers,
    caller: Caller,
  ): Promise<BulkPart> {
    const full = items.length >= this.size;
    await this.prepare(items, state, caller);
    const excluded: SetRun['excluded'] = new Map();
    for (;;) {
      const attempt: Attempt = { began: 0, deactivating: [] };
      const set = { items, excluded, attempt, state, answers, caller };
      try {
        const effect = () => this.transactions.run((tx) => this.apply(tx, set), caller);
        const watched = () => this.fuse.watched(caller, effect);
        const done = await (caller.repeatable ? caller.repeatable.answer(watched) : watched());
        const millis = performance.now() - attempt.began;
        if (full) this.sizer.recordDuration(Math.ceil(items.length / BATCH), millis, this.lock.isContended);
        return done;
      } catch (error) {
        for (const [item, why] of this.without(error, set)) excluded.set(item, why);
      }
    }
  }

  /** Which operations an attempt is made again without. @throws the error where that would not help. */
  private without(error: unknown, set: SetRun): Iterable<readonly [BulkItem, ProblemError | undefined]> {
    if (error instanceof Again) return error.excluded;
    if (error instanceof FuseBlownError && set.attempt.deactivating.length > 0) {
      const beyond = error.count - error.limit;
      return set.attempt.deactivating.slice(-beyond).map((item) => [item, error] as const);
    }
    const live = set.items.filter((item) => isLive(item, set));
    const reason = answerable(error, set.caller);
    if (live.length === 0) throw reason;
    return live.map((item) => [item, reason] as const);
  }

  /** All that takes long is done before the transaction. What is refused has its reason then. */
  private async prepare(items: readonly BulkItem[], state: BulkState, caller: Caller): Promise<void> {
    const own = new Map(items.map(({ operation, id }) => [operation.bulkId, id]));
    const idOf = (bulkId: string): string => own.get(bulkId) ?? state.idOf(bulkId) ?? '';
    const turn = new Turn();
    for (const item of items) {
      if (turn.isOver) await turn.next();
      if (item.work instanceof ProblemError) continue;
      try {
        item.waiting = await this.waiting(item.id, item.work, idOf, caller);
      } catch (error) {
        item.work = answerable(error, caller);
      }
    }
  }

  private async waiting(
    id: string,
    { method, version, data: sent, references }: BulkWork,
    idOf: (bulkId: string) => string,
    caller: Caller,
  ): Promise<WaitingChange> {
    const data = references.size > 0 ? resolved(sent, idOf) : sent;
    if (method === 'POST') return this.changes.create(data, caller, id);
    const versions = versionsIn(version);
    if (method === 'DELETE') return this.changes.delete(id, caller, versions);
    return method === 'PUT'
      ? this.changes.replace(id, data, caller, versions)
      : this.changes.patch(id, data, caller, versions);
  }

  private async apply(tx: Sql, set: SetRun): Promise<BulkPart> {
    const { items, attempt, caller, answers } = set;
    attempt.began = performance.now();
    attempt.deactivating = [];
    const live = items.filter((item) => isLive(item, set));
    const changes = await this.complete(tx, live, attempt);
    const made = new Map<BulkItem, User | ProblemError>();
    const good = [...changes].flatMap(([item, change]) => {
      if (!(change instanceof ProblemError)) return [{ item, change }];
      made.set(item, change);
      return [];
    });
    const all = good.map(({ change }) => change);
    const outcomes = all.length > 0 ? await this.writer.apply(tx, all, caller) : [];
    assertDistinct(good, outcomes);
    for (const [index, { item }] of good.entries()) {
      const outcome = outcomes[index];
      if (!outcome) throw new Error('a set has an outcome for each change');
      made.set(item, outcome.outcome === 'error' ? scimProblem(outcome.failures) : outcome.user);
    }
    const results = items.flatMap((item) => {
      const result = made.get(item) ?? refusal(item, set);
      return result ? [{ item, result }] : [];
    });
    assertWhole(results, set);
    return {
      next: (items.at(-1)?.place ?? 0) + 1,
      answers: results.map(({ item, result }): readonly [number, BulkAnswerDto] => [
        item.place,
        result instanceof ProblemError ? answers.failure(item, result) : answers.success(item, result),
      ]),
    };
  }

  private async complete(
    tx: Sql,
    live: readonly BulkItem[],
    attempt: Attempt,
  ): Promise<Map<BulkItem, UserChange | ProblemError>> {
    const isNew = ({ waiting }: BulkItem): boolean => waiting?.kind === 'create';
    const users = await this.writer.lock(
      tx,
      live.filter((item) => !isNew(item)).map(({ id }) => id),
    );
    const coming = new Set(live.filter(isNew).map(({ id }) => id));
    const changes = new Map<BulkItem, UserChange | ProblemError>();
    const turn = new Turn();
    for (const item of live) {
      if (turn.isOver) await turn.next();
      const user = users.get(item.id);
      try {
        const change = await item.waiting?.complete(tx, user, coming);
        if (!change) continue;
        changes.set(item, change);
        if (deactivates(change, user)) attempt.deactivating.push(item);
      } catch (error) {
        if (!(error instanceof ProblemError) || error.status >= 500) throw error;
        changes.set(item, error);
      }
    }
    return changes;
  }
}
