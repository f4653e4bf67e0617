import { truncate } from '../../platform/common/text.js';
import type { Guard } from '../runs/import-guard.js';
import { listChangedColumns } from './changed-columns.js';
import { type Finding, type GuardDefinition, computeLimit } from './guard.js';
import type { GuardLimits } from './guard-limits.js';
import { GUARDS } from './guard-table.js';
import type { Plan } from './plan.js';

/** A guard that is evaluated, with its examples before the names of their users are known. */
export interface EvaluatedGuard extends Omit<Guard, 'examples'> {
  examples: Finding['found']['examples'];
}

/** Returns the sum of a guard and field in the runs of the last 30 days that were applied without an approval. */
type EarlierCounts = (guard: string, field: string | null) => number;

/** Run of the last 30 days that has changed users. */
interface CountedRun {
  approved: boolean;
  guards: readonly Pick<Guard, 'name' | 'field' | 'value' | 'hit'>[];
}

const toKey = (name: string, field: string | null): string => `${name} ${field ?? ''}`;

/**
 * Adds up the counts of the runs that were applied without an approval. An approval ends the earlier counts of the
 * guards that had stopped the approved run.
 * @param runs runs of the last 30 days, newest first.
 */
export function sumEarlierCounts(runs: Iterable<CountedRun>): EarlierCounts {
  const sums = new Map<string, number>();
  const ended = new Set<string>();
  for (const { approved, guards } of runs) {
    for (const { name, field, value, hit } of guards) {
      const key = toKey(name, field);
      if (approved && hit) ended.add(key);
      if (!approved && !ended.has(key)) sums.set(key, (sums.get(key) ?? 0) + value);
    }
  }
  return (name, field) => sums.get(toKey(name, field)) ?? 0;
}

/** A sum of 30 days may be this many times the limit of one run. */
const SUM_FACTOR = 2;
/** Maximum length of a detail, which may contain words of the file. */
const MAX_DETAIL = 500;

/** Counts the staged rows of a plan, and compares the counts with the limits. @returns the guards, hits first. */
export async function evaluateGuards(
  plan: Plan,
  limits: GuardLimits,
  getEarlierCount: EarlierCounts,
  definitions = GUARDS,
): Promise<EvaluatedGuard[]> {
  const counters = definitions.map((guard) => {
    const own = limits[guard.name] ?? guard.limits;
    return { guard, own, counter: guard.start(plan, own) };
  });
  for await (const row of plan.readRows()) {
    const changes = listChangedColumns(row);
    for (const { counter } of counters) counter.add?.(row, changes);
  }
  const guards: EvaluatedGuard[] = [];
  for (const { guard, own, counter } of counters)
    for (const finding of await counter.finish()) {
      const limit = finding.limit ?? computeLimit(own, guard.population.count(plan, finding.field ?? ''));
      guards.push(evaluate(guard, { ...finding, limit }, getEarlierCount));
    }
  const hits = guards.filter(({ hit }) => hit);
  return [...explainHits(hits), ...guards.filter(({ hit }) => !hit)];
}

function evaluate(
  { name, isSummed, hint }: GuardDefinition,
  { field = null, found: { count, examples }, limit, detail }: Finding & { limit: number },
  getEarlierCount: EarlierCounts,
): EvaluatedGuard {
  const hit = count > limit;
  const hasWindow = name === 'created';
  const isAddedUp = count > 0 && !hit && (isSummed === true || hasWindow);
  const sum = count + (isAddedUp ? getEarlierCount(name, field) : 0);
  const sumLimit = hasWindow ? limit : SUM_FACTOR * limit;
  if (isAddedUp && sum > sumLimit) {
    const share = `This run has ${count} of these ${sum}. The others are in runs of the last 30 days.`;
    return { name, field, value: sum, limit: sumLimit, hit: true, examples, hint: `${share} ${hint}` };
  }
  const guard = { name, field, value: count, limit, hit };
  if (!hit) return { ...guard, examples: [], hint: '' };
  return { ...guard, examples, hint, ...(detail !== undefined && { detail: truncate(detail, MAX_DETAIL) }) };
}

/** Keeps one sentence for each accident: the sentences of guards that an earlier guard explains become empty. */
function explainHits(hits: readonly EvaluatedGuard[]): EvaluatedGuard[] {
  const told: GuardDefinition[] = [];
  return hits.map((hit) => {
    const definition = GUARDS.find(({ name }) => name === hit.name);
    const isExplained = told.some(
      ({ name, explains }) => name === hit.name || explains === 'all' || explains.includes(hit.name),
    );
    if (!isExplained && definition) told.push(definition);
    return isExplained ? { ...hit, hint: '' } : hit;
  });
}
