import { describe, expect, test } from '@jest/globals';
import { RunProgress } from '../../src/import/runs/import-run.js';

/** Progress over the whole run. */
const NEW = { percent: 0, rows_done: 0, rows_total: null, dry_run: false, approved: false };
const STEPS = Array.from({ length: 101 }, (_, i) => i / 100);

/** A run of 1,000 rows from its plan to its end; `changed` is the share of rows that change in each tenth of the file. */
function whole(changed: readonly number[], start = NEW) {
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
  ['nothing changes', tenths(0), 100],
  ['everything changes', tenths(1), 33],
  ['some rows change', tenths(0.1, 0), 90],
  ['the changes are at the end', [0, 0, 0, 0, 0, 0, 0, 0, 1, 1], 80],
  ['the changes are at the beginning', [1, 1, 0, 0, 0, 0, 0, 0, 0, 0], 71],
])('%s', (_, changed, afterPlan) => {
  test('it never goes back, and ends at 100 and all rows', () => {
    const { seen, planned } = whole(changed);
    expect(planned.percent).toBe(afterPlan);
    for (const [index, at] of seen.entries()) {
      const before = seen[index - 1] ?? at;
      expect(at.percent).toBeGreaterThanOrEqual(before.percent);
      expect(at.rows_done).toBeGreaterThanOrEqual(before.rows_done);
      expect(at.rows_done).toBeLessThanOrEqual(1000);
    }
    expect(seen.at(-1)).toEqual({ percent: 100, rows_done: 1000 });
  });

  test('a plan that is made again goes on from where the first one was', () => {
    const { seen } = whole(changed, { ...NEW, percent: 25, rows_done: 250 });
    expect(seen.every(({ percent, rows_done }) => percent >= 25 && rows_done >= 250)).toBe(true);
    expect(seen.at(-1)).toEqual({ percent: 100, rows_done: 1000 });
  });
});

test('the plan is all of a dry run', () => {
  const plan = new RunProgress({ ...NEW, dry_run: true });
  expect(plan.recordPlanned(0.5, 500, 500)).toEqual({ percent: 50, rows_done: 500 });
  expect(plan.recordPlanned(1, 1000, 1000)).toEqual({ percent: 100, rows_done: 1000 });
});
