import { describe, expect, test } from '@jest/globals';
import { RunProgress } from '../../src/import/runs/import-run.js';

const NEW = { percent: 0, rows_done: 0, rows_total: null, dry_run: false, approved: false };
const STEPS = Array.from({ length: 101 }, (_, i) => i / 100);

/** Simulates a run of 1,000 rows. `changed` is the share of changed rows in each tenth of the file. */
function simulateRun(changed: readonly number[], start = NEW) {
  const seen = [{ percent: start.percent, rows_done: start.rows_done }];
  const plan = new RunProgress(start);
  for (const share of STEPS) {
    const rows = Math.round(1000 * share);
    const tenths = changed.map((part, i) => part * Math.max(0, Math.min(100, rows - 100 * i)));
    const changes = tenths.reduce((sum, part) => sum + part, 0);
    seen.push(plan.recordPlanned(share, rows, changes));
  }
  const planned = seen.at(-1) ?? seen[0] ?? { percent: 0, rows_done: 0 };
  const apply = new RunProgress({ ...start, ...planned, rows_total: 1000 });
  for (const share of STEPS) seen.push(apply.recordApplied(share));
  return { seen, planned };
}

const tenths = (...shares: number[]) => Array.from({ length: 10 }, (_, i) => shares[i % shares.length] ?? 0);

describe.each([
  ['no row changes', tenths(0), 100],
  ['every row changes', tenths(1), 33],
  ['some rows change', tenths(0.1, 0), 90],
  ['only the last rows change', [0, 0, 0, 0, 0, 0, 0, 0, 1, 1], 80],
  ['only the first rows change', [1, 1, 0, 0, 0, 0, 0, 0, 0, 0], 71],
])('import progress if %s', (_, changed, afterPlan) => {
  test('never decreases and ends at 100 %', () => {
    const { seen, planned } = simulateRun(changed);
    expect(planned.percent).toBe(afterPlan);
    for (const [index, at] of seen.entries()) {
      const before = seen[index - 1] ?? at;
      expect(at.percent).toBeGreaterThanOrEqual(before.percent);
      expect(at.rows_done).toBeGreaterThanOrEqual(before.rows_done);
      expect(at.rows_done).toBeLessThanOrEqual(1000);
    }
    expect(seen.at(-1)).toEqual({ percent: 100, rows_done: 1000 });
  });

  test('continues from the stored progress in a new plan', () => {
    const { seen } = simulateRun(changed, { ...NEW, percent: 25, rows_done: 250 });
    expect(seen.every(({ percent, rows_done }) => percent >= 25 && rows_done >= 250)).toBe(true);
    expect(seen.at(-1)).toEqual({ percent: 100, rows_done: 1000 });
  });
});

test('a dry run reaches 100 % after planning', () => {
  const plan = new RunProgress({ ...NEW, dry_run: true });
  expect(plan.recordPlanned(0.5, 500, 500)).toEqual({ percent: 50, rows_done: 500 });
  expect(plan.recordPlanned(1, 1000, 1000)).toEqual({ percent: 100, rows_done: 1000 });
});
