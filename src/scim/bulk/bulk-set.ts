import { ProblemError } from '../../platform/common/errors.js';
import type { Caller } from '../../access/actor.js';
import type { Outcome, UserChange } from '../../users/writer/change-set.js';
import { loginKey } from '../../users/model/keys.js';
import type { User } from '../../users/model/user.js';
import { scimProblem } from '../users/scim-users.service.js';
import type { BulkAnswers, BulkItem } from './bulk-item.js';
import { unresolved } from './bulk-plan.js';
import type { BulkState } from './bulk-state.js';

/** A set that is done again without some of its operations: with the reason to answer, or none where they are cut off. */
export class Again extends Error {
  constructor(readonly excluded: ReadonlyMap<BulkItem, ProblemError | undefined>) {
    super('The set is done again without some operations.');
  }
}

/** What one attempt at a set has found, of use where it fails. */
export interface Attempt {
  began: number;
  deactivating: BulkItem[];
}

/** Everything that an attempt at a set goes by. */
export interface SetRun {
  items: readonly BulkItem[];
  excluded: Map<BulkItem, ProblemError | undefined>;
  attempt: Attempt;
  state: BulkState;
  answers: BulkAnswers;
  caller: Caller;
}

export const isLive = (item: BulkItem, { excluded }: SetRun): boolean =>
  item.waiting !== undefined && !excluded.has(item);

export function refusal(item: BulkItem, { excluded }: SetRun): ProblemError | undefined {
  if (excluded.has(item)) return excluded.get(item);
  return item.work instanceof ProblemError ? item.work : undefined;
}

export function deactivates({ kind, patch }: UserChange, user: User | undefined): boolean {
  return (
    user !== undefined && (kind === 'delete' || (user.status === 'Active' && patch.status === 'Blocked'))
  );
}

/**
 * What refers to an operation that has failed is not made, nor is anything behind the error with which the Bulk ends.
 * @throws Again
 */
export function assertWhole(
  results: readonly { item: BulkItem; result: User | ProblemError }[],
  { state }: SetRun,
): void {
  const wrong = new Map<BulkItem, ProblemError | undefined>();
  const failed = new Set<string>();
  for (const { item, result } of results) {
    const { bulkId } = item.operation;
    const lost = item.work instanceof ProblemError ? [] : [...item.work.references];
    const missing = lost.find((name) => failed.has(name));
    if (missing !== undefined && !(result instanceof ProblemError)) wrong.set(item, unresolved(missing));
    const isBad = result instanceof ProblemError || missing !== undefined;
    if (isBad && bulkId !== undefined) failed.add(bulkId);
  }
  const errors = results.filter(({ item, result }) => result instanceof ProblemError || wrong.has(item));
  const last = state.lastWith(errors.map(({ item }) => item.operation.index));
  for (const { item, result } of results) {
    if (item.operation.index > last && !(result instanceof ProblemError)) wrong.set(item, undefined);
  }
  if (wrong.size > 0) throw new Again(wrong);
}

/**
 * To the writer, of two changes that take one name none is better. Here the first one has it, as if they were sent one by one.
 * @throws Again without the later ones.
 */
export function assertDistinct(
  changes: readonly { item: BulkItem; change: UserChange }[],
  outcomes: readonly Outcome[],
): void {
  const taken = new Set<string>();
  const later = new Map<BulkItem, ProblemError>();
  for (const [index, { item, change }] of changes.entries()) {
    const outcome = outcomes[index];
    for (const { code, field } of outcome?.outcome === 'error' ? outcome.failures : []) {
      if (code !== 'duplicate') continue;
      const name = nameIn(change, field);
      if (taken.has(name) && outcome?.outcome === 'error') later.set(item, scimProblem(outcome.failures));
      taken.add(name);
    }
  }
  if (later.size > 0) throw new Again(later);
}

function nameIn({ patch }: UserChange, field: string): string {
  const value: unknown = new Map<string, unknown>(Object.entries(patch)).get(field);
  return `${field} ${typeof value === 'string' ? loginKey(value) : JSON.stringify(value)}`;
}
