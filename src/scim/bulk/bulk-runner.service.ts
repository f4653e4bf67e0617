import { Injectable } from '@nestjs/common';
import { setImmediate } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import type { Actor, Caller } from '../../access/actor.js';
import { createScopeError, findMissingScope } from '../../access/policy.js';
import { TransactionRunner } from '../../platform/database/transaction-runner.js';
import { ReplayedResponseError } from '../../platform/http/error.filter.js';
import type { Group } from '../../groups/group.js';
import { Resources } from '../discovery/resources.js';
import { ScimGroups } from '../groups/scim-groups.service.js';
import { rulesOf } from '../http/profile-rules.js';
import {
  type BulkOperation,
  type BulkPlan,
  parseBulkId,
  createUnresolvedError,
  weightOf,
} from './bulk-plan.js';
import { BulkSets } from './bulk-sets.service.js';
import { type BulkItem, type BulkPart, BulkState, toItemError, executeOperation } from './bulk-state.js';
import type { BulkAnswerDto } from './bulk.dto.js';

/**
 * Executes the operations of a Bulk request. Several users are written together in one transaction, but each group has
 * its own transaction. With an `Idempotency-Key`, each transaction stores its responses, so that a repeated request
 * continues where the first request stopped.
 */
@Injectable()
export class BulkRunner {
  constructor(
    private readonly sets: BulkSets,
    private readonly groups: ScimGroups,
    private readonly resources: Resources,
    private readonly transactions: TransactionRunner,
  ) {}

  /**
   * Executes all operations.
   * @returns the responses in the order of the request.
   * @throws ProblemError, such as `unavailable`, if the client should repeat the request.
   */
  async run(plan: BulkPlan, caller: Caller): Promise<BulkAnswerDto[]> {
    const { operations } = plan;
    const state = new BulkState(plan, this.resources, rulesOf(caller.actor).isBrief);
    for (let at = 0; at < operations.length;) {
      const part = await this.runPart(operations, at, state, caller);
      for (const [position, response] of part.answers) {
        const operation = operations[position];
        if (operation) state.addResponse(operation, response);
      }
      at = part.next;
      await setImmediate(); // lets other requests run, because SQLite statements block this thread
    }
    const answers = state.listResponses();
    return caller.repeatable ? this.transactions.run(() => Promise.resolve(answers), caller) : answers;
  }

  private async runPart(
    operations: readonly BulkOperation[],
    start: number,
    state: BulkState,
    caller: Caller,
  ): Promise<BulkPart> {
    try {
      const { repeatable, ...rest } = caller;
      const items = this.selectNextItems(operations, start, state, caller.actor);
      const [first] = items;
      if (!first) return { next: start + 1, answers: [] };
      const part = repeatable ? { ...rest, repeatable: await repeatable.createPartRequest(start) } : caller;
      return await (isGroup(first)
        ? this.runGroup(first, state, part)
        : this.sets.applySet(items, state, part));
    } catch (error) {
      if (error instanceof ReplayedResponseError) return JSON.parse(error.storedResponse.body) as BulkPart; // an earlier attempt has already executed this part
      throw error;
    }
  }

  /**
   * Selects the operations to execute together: one operation on a group, or operations on different users. Returns an
   * empty list after the last error that `failOnErrors` allows.
   */
  private selectNextItems(
    queue: readonly BulkOperation[],
    start: number,
    state: BulkState,
    actor: Actor,
  ): BulkItem[] {
    const { size } = this.sets;
    const items: BulkItem[] = [];
    const ids = new Set<string>();
    const names = new Map<string, BulkItem>();
    let weight = 0;
    for (let position = start; position < queue.length && weight < size; position++) {
      const operation = queue[position];
      if (!operation || state.isSkipped(operation)) break;
      weight += weightOf(operation);
      if (items.length > 0 && weight > size) break;
      const item = toItem(operation, position, state, actor);
      const isAlone = isGroup(item);
      const { bulkId, id } = operation;
      // A second operation on the same user, by its id or by `bulkId`, must wait for the next set.
      const isRepeated = ids.has(item.id) || (!item.error && names.has(parseBulkId(id) ?? ''));
      if (items.length > 0 && (isAlone || isRepeated)) break;
      if (!item.error) {
        const references = [...operation.references];
        if (references.some((name) => (names.get(name)?.operation.method ?? 'POST') !== 'POST')) break;
        const isOwn = (ref: string) => ref === bulkId && !isAlone;
        const isKnown = (ref: string) => state.idOf(ref) !== undefined || names.has(ref) || isOwn(ref);
        const missing = references.find((name) => !isKnown(name));
        if (missing !== undefined) item.error = createUnresolvedError(missing);
        ids.add(item.id);
      }
      items.push(item);
      if (bulkId !== undefined && !item.error) names.set(bulkId, item);
      if (isAlone && !item.error) break;
    }
    return items;
  }

  private async runGroup(item: BulkItem, state: BulkState, caller: Caller): Promise<BulkPart> {
    const toPart = (result: Parameters<BulkState['buildResponse']>[1]): BulkPart => ({
      next: item.position + 1,
      answers: [[item.position, state.buildResponse(item, result)]],
    });
    const changeGroup = async () =>
      toPart(await executeOperation<Group | undefined>(this.groups, item, state.idOf, caller));
    try {
      return await (caller.repeatable ? caller.repeatable.runOnce(changeGroup) : changeGroup());
    } catch (error) {
      const failed = toPart(toItemError(error, caller));
      if (!caller.repeatable) return failed;
      return caller.repeatable.runOnce(() => this.transactions.run(() => Promise.resolve(failed), caller));
    }
  }
}

const isGroup = ({ operation, error }: BulkItem): boolean => !error && operation.type === 'Groups';

/**
 * Converts an operation to an item that also contains the id of the resource. Sets an error if the API key lacks the
 * required scope.
 */
function toItem(operation: BulkOperation, position: number, state: BulkState, actor: Actor): BulkItem {
  const { type, method, version, error } = operation;
  if (error) return { position, operation, id: '', error };
  const write = method === 'POST' ? 'users.create' : 'users.update';
  const missing = findMissingScope(actor, type === 'Groups' ? 'groups.write' : write);
  const name = parseBulkId(operation.id);
  const sent = name === undefined ? operation.id : (state.idOf(name) ?? operation.id);
  const id = method === 'POST' ? uuidv7() : sent.toLowerCase();
  const ifVersions = state.resources.tags.parseIfMatch(version);
  return { position, operation, id, ifVersions, ...(missing && { error: createScopeError(missing) }) };
}
