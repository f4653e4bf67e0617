import { describe, expect, test } from '@jest/globals';
import type { PlanNumbers } from '../../src/import/guards/guards.js';
import type { ShapeTally } from '../../src/import/guards/plan-tally.js';
import type { GuardOverrides } from '../../src/import/runs/guard-limits.js';
import { LIMITS, guards, hits, of, other, updated } from './guard-plans.js';

describe('a profile has limits of its own', () => {
  test.each<[string, Partial<PlanNumbers>, GuardOverrides, unknown[]]>([
    ['a share', { shape: other('phone', 201) }, { changed_field: { percent: 30 } }, []],
    [
      'what it does not name stays',
      { shape: other('phone', 301) },
      { changed_field: { percent: 30 } },
      [['changed_field', 301, 300]],
    ],
    [
      'of logins it is another one',
      { shape: other('email', 101) },
      { changed_field: { percent: 30 } },
      [['changed_field', 101, 100]],
    ],
    ['and that may be named', { shape: other('email', 101) }, { changed_logins: { percent: 11 } }, []],
    [
      'stricter than the settings',
      { errors: of(1) },
      { errors: { rows: 0, percent: 0 } },
      [['errors', 1, 0]],
    ],
    [
      'a small data set too: its own number is not lowered',
      { linked: 19, activeInScope: 19, deactivations: of(8) },
      { deactivations: { rows: 8 } },
      [],
    ],
    [
      'a small data set of which it names another number',
      { linked: 19, activeInScope: 19, deactivations: of(4) },
      { deactivations: { total: 9 } },
      [['deactivations', 4, 3]],
    ],
  ])('%s', (_, plan, own, expected) => {
    expect(hits(plan, 'keep', own)).toEqual(expected);
  });

  test('and every hit of such a limit says so', () => {
    const hint = 'The profile own sets the limit.';
    const all = Object.keys(LIMITS).filter((name) => name !== 'small_dataset');
    const own = (...names: string[]): GuardOverrides =>
      Object.fromEntries(names.map((name) => [name, { rows: 0, percent: 0, factor: 1, total: 0 }]));
    const week = { deactivations: 200, reactivations: 200 };
    const plan = {
      linked: 90,
      lastRows: 9000,
      newKeys: of(1),
      lostKeys: 1,
      errors: of(1),
      matched: 90,
      week,
    };
    const more = {
      foreign: { ...of(1), known: 0 },
      repeated: of(1),
      reactivations: of(1),
      deactivations: of(1),
    };
    const said = (names: readonly string[], numbers: Partial<PlanNumbers>) =>
      guards({ ...plan, ...more, ...numbers, shape: shape() }, 'block', own(...names))
        .filter((guard) => guard.hint.endsWith(hint))
        .map(({ name, field }) => (field === null || name === 'moved_values' ? name : `${name} ${field}`));
    const shape = (): ShapeTally => {
      const made = other('phone', 3);
      for (let i = 3; i < 6; i++) made.add(updated(i, 'email', `a${i}`, `b${i}`));
      for (let i = 6; i < 9; i++) made.add(updated(i, 'mobile', `a${i}`, ''));
      return made;
    };
    const undone = { ...of(1), of: 10 };
    const of1 = (name: string, numbers: Partial<PlanNumbers> = { undone }) => said([name], numbers);
    expect(Object.fromEntries(all.map((name) => [name, of1(name)]))).toMatchObject({
      changed_field: ['changed_field phone'],
      changed_logins: ['changed_field email'],
      emptied_field: ['emptied_field mobile'],
      week: ['deactivations', 'reactivations'],
      old_file: ['old_file'],
      same_file: [],
      errors: ['errors'],
    });
    expect(of1('same_file', { sameFile: 1 })).toEqual(['old_file']);
    expect(of1('old_file', { sameFile: 1 })).toEqual([]);
  });
});
