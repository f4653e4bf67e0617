import { Injectable } from '@nestjs/common';
import { setImmediate } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import type { Actor, Caller } from '../../access/actor.js';
import { insufficientScope, missingScope } from '../../access/policy.js';
import { ProblemError } from '../../platform/common/errors.js';
import { TransactionRunner } from '../../platform/database/transaction-runner.js';
import { FirstAnswer } from '../../platform/http/error.filter.js';
import { Resources } from '../discovery/resources.js';
import type { Group } from '../../groups/group.js';
import { ScimGroups } from '../groups/scim-groups.service.js';
import { rulesOf } from '../http/key-rules.js';
import { versionsIn } from '../../platform/http/request-headers.js';
import { BulkAnswers, type BulkItem, type BulkPart, answerable } from './bulk-item.js';
import { type BulkOperation, type BulkPlan, type BulkWork, unresolved, weightOf } from './bulk-plan.js';
import { bulkIdIn, resolved } from './bulk-references.js';
import { BulkSets } from './bulk-sets.service.js';
import { BulkState } from './bulk-state.js';
import type { BulkAnswerDto } from './bulk.dto.js';

/**
 * Does the operations of a Bulk: sets of users, and groups one by one, each in a transaction of its own. With an
 * `Idempotency-Key` each of these keeps its answers, by which a repetition goes on where the first request has ended.
 */
@Injectable()
export class BulkRun {
  constructor(
    private readonly sets: BulkSets,
    private readonly groups: ScimGroups,
    private readonly resources: Resources,
    private readonly transactions: TransactionRunner,
  ) {}

  /** @returns the answers in the order sent. @throws ProblemError `unavailable` and the like, to be cured by a repetition. */
  async run({ operations, failOnErrors }: BulkPlan, caller: Caller): Promise<BulkAnswerDto[]> {
    const state = new BulkState(failOnErrors);
    for (let at = 0; at < operations.length;) {
      const part = await this.partAt(operations, at, state, caller);
      for (const [place, each] of part.answers) {
        const operation = operations[place];
        if (operation) state.add(operation, each);
      }
      at = part.next;
      await setImmediate(); // others have their turn: SQLite works in this thread
    }
    const answers = state.all();
    return caller.repeatable ? this.transactions.run(() => Promise.resolve(answers), caller) : answers;
  }

  private async partAt(
    operations: readonly BulkOperation[],
    at: number,
    state: BulkState,
    caller: Caller,
  ): Promise<BulkPart> {
    try {
      const { repeatable, ...rest } = caller;
      const items = this.itemsAt(operations, at, state, caller.actor);
      const [first] = items;
      if (!first) return { next: at + 1, answers: [] };
      const part = repeatable ? { ...rest, repeatable: await repeatable.part(at) } : caller;
      const answers = new BulkAnswers(this.resources.base, rulesOf(caller.actor).isBrief);
      const { work } = first;
      if (work instanceof ProblemError || work.type === 'Users') {
        return await this.sets.run(items, state, answers, part);
      }
      return await this.group(first, work, state, answers, part);
    } catch (error) {
      if (error instanceof FirstAnswer) return JSON.parse(error.answer.body) as BulkPart; // as a part keeps it
      throw error;
    }
  }

  /** The operations that are done next, together: a group, or users that are distinct. None behind the last error. */
  private itemsAt(
    operations: readonly BulkOperation[],
    at: number,
    state: BulkState,
    actor: Actor,
  ): BulkItem[] {
    const { size } = this.sets;
    const items: BulkItem[] = [];
    const ids = new Set<string>();
    const names = new Map<string, BulkItem>();
    let weight = 0;
    for (let place = at; place < operations.length && weight < size; place++) {
      const operation = operations[place];
      if (!operation || state.isBeyond(operation)) break;
      weight += weightOf(operation);
      if (items.length > 0 && weight > size) break;
      const item = toItem(operation, place, state, actor);
      const { work } = item;
      const isGroup = !(work instanceof ProblemError) && work.type === 'Groups';
      if (items.length > 0 && (isGroup || ids.has(item.id) || isMadeIn(names, work))) break;
      if (!(work instanceof ProblemError)) {
        const waiting = [...work.references].flatMap((name) => names.get(name) ?? []);
        if (waiting.some((other) => !(other.work instanceof ProblemError) && other.work.method !== 'POST'))
          break;
        const isThere = (name: string) =>
          state.idOf(name) !== undefined || names.has(name) || name === operation.bulkId;
        const missing = [...work.references].find((name) => !isThere(name));
        if (missing !== undefined) item.work = unresolved(missing);
        ids.add(item.id);
      }
      items.push(item);
      if (operation.bulkId !== undefined && !(item.work instanceof ProblemError))
        names.set(operation.bulkId, item);
      if (isGroup && !(item.work instanceof ProblemError)) break;
    }
    return items;
  }

  private async group(
    item: BulkItem,
    work: BulkWork,
    state: BulkState,
    answers: BulkAnswers,
    caller: Caller,
  ): Promise<BulkPart> {
    const part = (each: BulkAnswerDto): BulkPart => ({ next: item.place + 1, answers: [[item.place, each]] });
    try {
      const change = async () => part(answers.success(item, await this.change(item.id, work, state, caller)));
      return await (caller.repeatable ? caller.repeatable.answer(change) : change());
    } catch (error) {
      const failed = part(answers.failure(item, answerable(error, caller)));
      if (!caller.repeatable) return failed;
      return caller.repeatable.answer(() => this.transactions.run(() => Promise.resolve(failed), caller));
    }
  }

  private async change(
    id: string,
    work: BulkWork,
    state: BulkState,
    caller: Caller,
  ): Promise<Group | undefined> {
    const { method, version, references } = work;
    const data = references.size > 0 ? resolved(work.data, (name) => state.idOf(name) ?? '') : work.data;
    const versions = versionsIn(version);
    if (method === 'POST') return this.groups.create(data, caller);
    if (method === 'PUT') return this.groups.replace(id, data, caller, versions);
    if (method === 'PATCH') return this.groups.patch(id, data, caller, versions);
    await this.groups.delete(id, caller, versions);
    return undefined;
  }
}

/** An operation with the id that it is about: of a new user, the one that it gets. */
function toItem(operation: BulkOperation, place: number, state: BulkState, actor: Actor): BulkItem {
  const { work } = operation;
  if (work instanceof ProblemError) return { place, operation, id: '', work };
  const lacks = missingScope(actor, permissionOf(work));
  const name = bulkIdIn(work.id);
  const sent = name === undefined ? work.id : (state.idOf(name) ?? work.id);
  const id = work.method === 'POST' ? uuidv7() : sent.toLowerCase();
  return { place, operation, id, work: lacks ? insufficientScope(lacks) : work };
}

/** Whether the path names a user of this set, whose id is known behind it: a second operation on one user. */
function isMadeIn(names: ReadonlyMap<string, BulkItem>, work: BulkItem['work']): boolean {
  const name = work instanceof ProblemError ? undefined : bulkIdIn(work.id);
  return name !== undefined && names.has(name);
}

function permissionOf({ type, method }: BulkWork) {
  if (type === 'Groups') return 'groups.write';
  return method === 'POST' ? 'users.create' : 'users.update';
}
