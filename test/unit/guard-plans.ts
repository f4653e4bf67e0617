import { Changes } from '../../src/platform/common/field-changes.js';
import { loadEnv } from '../../src/platform/config/env.js';
import { limitsOf, type GuardOverrides, type Guard } from '../../src/import/runs/guard-limits.js';
import { guardsOf, type PlanNumbers } from '../../src/import/guards/guards.js';
import { ShapeTally } from '../../src/import/guards/plan-tally.js';

/** Plans of which a few numbers are said, and the rest is quiet. */
export const LIMITS = limitsOf(loadEnv({ NODE_ENV: 'test' }));
export const of = (count: number) => ({ count, examples: [] });
const quiet = (): PlanNumbers => ({
  rows: 1000,
  errors: of(0),
  activeInScope: 1000,
  linked: 1000,
  matched: 1000,
  deactivations: of(0),
  reactivations: of(0),
  week: { deactivations: 0, reactivations: 0 },
  elsewhere: 0,
  newKeys: of(0),
  lostKeys: 0,
  shape: new ShapeTally(),
  foreign: { ...of(0), known: 0 },
  lastRows: null,
  sameFile: 0,
  undone: null,
  repeated: null,
});
export type Missing = 'keep' | 'report' | 'block';
export const guards = (
  plan: Partial<PlanNumbers>,
  missing: Missing = 'keep',
  guards?: GuardOverrides,
): Guard[] => guardsOf({ ...quiet(), ...plan }, LIMITS, missing, guards ? { name: 'own', guards } : null);
export const hits = (...args: Parameters<typeof guards>) =>
  guards(...args)
    .filter(({ hit }) => hit)
    .map(({ name, value, limit }) => [name, value, limit]);
/** The shape of a plan in which some users get another value. @param values old and new value of user `i`. */
export const shapeOf = (
  rows: number,
  field: string,
  values: (i: number) => [old: unknown, now: unknown],
): ShapeTally => {
  const shape = new ShapeTally();
  for (let i = 0; i < rows; i++) shape.add(updated(i, field, ...values(i)));
  return shape;
};
export const updated = (i: number, field: string, old: unknown, now: unknown) => ({
  line: i + 2,
  external_id: `e${i}`,
  outcome: 'updated' as const,
  changes: Changes.fromList([{ field, old, new: now }]),
});
export const created = (i: number, names: { firstname: string; surname: string }) => ({
  ...updated(i, '', null, null),
  outcome: 'created' as const,
  changes: Changes.fromList(
    Object.entries(names).map(([field, value]) => ({ field, old: null, new: value })),
  ),
});
export const other = (field: string, rows: number) => shapeOf(rows, field, (i) => [`a${i}`, `b${i}`]);
export const emptied = (field: string, rows: number) => shapeOf(rows, field, (i) => [`a${i}`, '']);
