import { describe, expect, test } from '@jest/globals';
import type { PlanNumbers } from '../../src/import/guards/guards.js';
import type { ShapeTally } from '../../src/import/guards/plan-tally.js';
import type { GuardOverrides } from '../../src/import/runs/guard-limits.js';
import { LIMITS, evaluate, findHits, tally, change, updatedRow } from './guard-plans.js';

describe('profile guard limits', () => {
  test.each<[string, Partial<PlanNumbers>, GuardOverrides, unknown[]]>([
    ['allow more changed fields', { shape: change('phone', 201) }, { changed_field: { percent: 30 } }, []],
    [
      'do not allow changed fields above the set percentage',
      { shape: change('phone', 301) },
      { changed_field: { percent: 30 } },
      [['changed_field', 301, 300]],
    ],
    [
      'for changed fields do not apply to changed logins',
      { shape: change('email', 101) },
      { changed_field: { percent: 30 } },
      [['changed_field', 101, 100]],
    ],
    ['allow more changed logins', { shape: change('email', 101) }, { changed_logins: { percent: 11 } }, []],
    [
      'may be lower than the limits in the settings',
      { errors: tally(1) },
      { errors: { rows: 0, percent: 0 } },
      [['errors', 1, 0]],
    ],
    [
      'with rows apply to a small data set',
      { linked: 19, activeInScope: 19, deactivations: tally(8) },
      { deactivations: { rows: 8 } },
      [],
    ],
    [
      'without rows do not apply to a small data set',
      { linked: 19, activeInScope: 19, deactivations: tally(4) },
      { deactivations: { total: 9 } },
      [['deactivations', 4, 3]],
    ],
  ])('%s', (_, plan, own, expected) => {
    expect(findHits(plan, 'keep', own)).toEqual(expected);
  });

  test('add the profile to the hint of a tripped guard', () => {
    const hint = 'The profile own sets the limit.';
    const all = Object.keys(LIMITS).filter((name) => name !== 'small_dataset');
    const overridesOf = (...names: string[]): GuardOverrides =>
      Object.fromEntries(names.map((name) => [name, { rows: 0, percent: 0, factor: 1, total: 0 }]));
    const week = { deactivations: 200, reactivations: 200 };
    const plan = {
      linked: 90,
      lastRows: 9000,
      newKeys: tally(1),
      lostKeys: 1,
      errors: tally(1),
      matched: 90,
      week,
    };
    const more = {
      foreign: { ...tally(1), known: 0 },
      repeated: tally(1),
      reactivations: tally(1),
      deactivations: tally(1),
    };
    const hintsOf = (names: readonly string[], numbers: Partial<PlanNumbers>) =>
      evaluate({ ...plan, ...more, ...numbers, shape: createShape() }, 'block', overridesOf(...names))
        .filter((guard) => guard.hint.endsWith(hint))
        .map(({ name, field }) => (field === null || name === 'moved_values' ? name : `${name} ${field}`));
    const createShape = (): ShapeTally => {
      const all = change('phone', 3);
      for (let i = 3; i < 6; i++) all.add(updatedRow(i, 'email', `a${i}`, `b${i}`));
      for (let i = 6; i < 9; i++) all.add(updatedRow(i, 'mobile', `a${i}`, ''));
      return all;
    };
    const undone = { ...tally(1), of: 10 };
    const hintOf = (name: string, numbers: Partial<PlanNumbers> = { undone }) => hintsOf([name], numbers);
    expect(Object.fromEntries(all.map((name) => [name, hintOf(name)]))).toMatchObject({
      changed_field: ['changed_field phone'],
      changed_logins: ['changed_field email'],
      emptied_field: ['emptied_field mobile'],
      week: ['deactivations', 'reactivations'],
      old_file: ['old_file'],
      same_file: [],
      errors: ['errors'],
    });
    expect(hintOf('same_file', { sameFile: 1 })).toEqual(['old_file']);
    expect(hintOf('old_file', { sameFile: 1 })).toEqual([]);
  });
});
