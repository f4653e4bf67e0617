import { Changes } from '../../src/platform/common/field-changes.js';
import { loadEnv } from '../../src/platform/config/env.js';
import { limitsOf, type GuardOverrides, type Guard } from '../../src/import/runs/guard-limits.js';
import { guardsOf, type PlanNumbers } from '../../src/import/guards/guards.js';
import { ShapeTally } from '../../src/import/guards/plan-tally.js';

/** The default limits of the guards. */
export const LIMITS = limitsOf(loadEnv({ NODE_ENV: 'test' }));
export const tally = (count: number) => ({ count, examples: [] });
const quietPlan = (): PlanNumbers => ({
  rows: 1000,
  errors: tally(0),
  activeInScope: 1000,
  linked: 1000,
  matched: 1000,
  deactivations: tally(0),
  reactivations: tally(0),
  week: { deactivations: 0, reactivations: 0 },
  elsewhere: 0,
  newKeys: tally(0),
  lostKeys: 0,
  shape: new ShapeTally(),
  foreign: { ...tally(0), known: 0 },
  lastRows: null,
  sameFile: 0,
  undone: null,
  repeated: null,
});
export type Missing = 'keep' | 'report' | 'block';
export const evaluate = (
  plan: Partial<PlanNumbers>,
  missing: Missing = 'keep',
  guards?: GuardOverrides,
): Guard[] => guardsOf({ ...quietPlan(), ...plan }, LIMITS, missing, guards ? { name: 'own', guards } : null);
export const findHits = (...args: Parameters<typeof evaluate>) =>
  evaluate(...args)
    .filter(({ hit }) => hit)
    .map(({ name, value, limit }) => [name, value, limit]);
/** Returns the shape of a plan that changes a field. @param values old and new value of user `i`. */
export const shapeOf = (
  rows: number,
  field: string,
  values: (i: number) => [old: unknown, now: unknown],
): ShapeTally => {
  const shape = new ShapeTally();
  for (let i = 0; i < rows; i++) shape.add(updatedRow(i, field, ...values(i)));
  return shape;
};
export const updatedRow = (i: number, field: string, old: unknown, now: unknown) => ({
  line: i + 2,
  external_id: `e${i}`,
  outcome: 'updated' as const,
  changes: Changes.fromList([{ field, old, new: now }]),
});
export const createdRow = (i: number, names: { firstname: string; surname: string }) => ({
  ...updatedRow(i, '', null, null),
  outcome: 'created' as const,
  changes: Changes.fromList(
    Object.entries(names).map(([field, value]) => ({ field, old: null, new: value })),
  ),
});
export const change = (field: string, rows: number) => shapeOf(rows, field, (i) => [`a${i}`, `b${i}`]);
export const clear = (field: string, rows: number) => shapeOf(rows, field, (i) => [`a${i}`, '']);
