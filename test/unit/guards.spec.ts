import { describe, expect, test } from '@jest/globals';
import { EnvError, loadEnv } from '../../src/platform/config/env.js';
import { limitsOf } from '../../src/import/runs/guard-limits.js';
import type { PlanNumbers } from '../../src/import/guards/guards.js';
import type { ShapeTally } from '../../src/import/guards/plan-tally.js';
import { tally, evaluate, findHits, change, clear, type Missing } from './guard-plans.js';

test('an import plan within all limits trips no guard', () => {
  const all = evaluate(
    { lastRows: 1000, undone: { ...tally(0), of: 10 }, repeated: tally(0), shape: change('phone', 1) },
    'block',
  );
  expect(all.map(({ name }) => name)).toEqual([
    'deactivations',
    'reactivations',
    'changed_keys',
    'shrunken_file',
    'changed_field',
    'moved_values',
    'garbled_text',
    'old_file',
    'foreign_dataset',
    'after_revert',
    'errors',
  ]);
  expect(all.filter(({ hit }) => hit)).toEqual([]);
});

describe.each(['deactivations', 'reactivations'] as const)('the guard on %s', (name) => {
  test.each([
    [50, 5, 'none'],
    [50, 6, 5],
    [60, 6, 'none'],
    [60, 7, 6],
    [1_000_000, 200, 'none'],
    [1_000_000, 201, 200],
  ])('with %d users and %d changes reports limit %s', (activeInScope, value, limit) => {
    expect(findHits({ activeInScope, [name]: tally(value) })).toEqual(
      limit === 'none' ? [] : [[name, value, limit]],
    );
  });
  test.each<[number, number, number, number | 'none']>([
    [5, 5, 50, 'none'],
    [5, 6, 50, 10],
    [0, 500, 50, 'none'], // a run without such changes is not checked
    [200, 200, 1_000_000, 'none'],
    [200, 201, 1_000_000, 400],
  ])(
    'with %d new and %d recent changes among %d users reports limit %s',
    (value, before, activeInScope, limit) => {
      const week = { deactivations: 0, reactivations: 0, [name]: before };
      expect(findHits({ activeInScope, [name]: tally(value), week })).toEqual(
        limit === 'none' ? [] : [[name, value + before, limit]],
      );
    },
  );
});

describe('a small data set', () => {
  const small = (plan: Partial<PlanNumbers>) => ({
    linked: 49,
    activeInScope: 8,
    matched: 8,
    rows: 8,
    ...plan,
  });
  test.each<[number, string, (count: number) => Partial<PlanNumbers>]>([
    [3, 'deactivations', (count) => ({ deactivations: tally(count) })],
    [5, 'reactivations', (count) => ({ reactivations: tally(count) })],
    [4, 'users of another data set', (count) => ({ foreign: { ...tally(count), known: 0 } })],
    [2, 'changed phones', (count) => ({ shape: change('phone', count) })],
    [2, 'emptied phones', (count) => ({ shape: clear('phone', count) })],
    [2, 'changed roles', (count) => ({ shape: change('roles', count) })],
    [3, 'new and lost external ids', (count) => ({ linked: 8, newKeys: tally(count), lostKeys: count })],
  ])('allows at most %d %s', (most, _, plan) => {
    expect(findHits(small(plan(most)))).toEqual([]);
    expect(findHits(small(plan(most + 1)))).not.toEqual([]);
  });
  test('has fewer than 50 linked users', () => {
    expect(findHits(small({ linked: 50, deactivations: tally(5), shape: change('phone', 4) }))).toEqual([]);
  });
});

test.each<[number, number, string]>([
  [200, 200, 'pass'],
  [201, 200, 'pass'],
  [200, 201, 'pass'],
  [201, 201, 'trip'],
])('for 1000 users, %d new and %d lost external ids %s the guard', (count, lostKeys, outcome) => {
  const hits = outcome === 'trip' ? [['changed_keys', count, 200]] : [];
  expect(findHits({ newKeys: tally(count), lostKeys })).toEqual(hits);
});

test('the guard on shrunken files ignores the first file', () => {
  expect(findHits({ lastRows: null, rows: 1 }, 'block')).toEqual([]);
});

test.each<[number, number, Missing, number | 'none']>([
  [1000, 800, 'block', 'none'],
  [1000, 799, 'block', 800],
  [1000, 1, 'keep', 'none'],
  [1000, 1, 'report', 'none'],
  [3, 2, 'block', 'none'], // one missing user is always allowed
  [3, 1, 'block', 2],
  [8, 6, 'block', 7],
])(
  'shrinking a file from %d to %d rows with missing=%s exceeds limit %s',
  (lastRows, rows, missing, limit) => {
    expect(findHits({ lastRows, rows }, missing)).toEqual(
      limit === 'none' ? [] : [['shrunken_file', rows, limit]],
    );
  },
);

/** Guard, field, limit in percent, and minimum number of users. */
test.each<[string, string, number, number, (field: string, rows: number) => ShapeTally]>([
  ['changed_field', 'phone', 20, 5, change],
  ['changed_field', 'manager_uuid', 20, 5, change],
  ['changed_field', 'username', 10, 3, change],
  ['changed_field', 'email', 10, 3, change],
  ['changed_field', 'authname', 10, 3, change],
  ['changed_field', 'roles', 10, 3, change],
  ['emptied_field', 'phone', 10, 5, clear],
  ['emptied_field', 'authname', 10, 5, clear],
])('the guard %s on %s trips above %d %% of users (at least %d)', (name, field, percent, floor, shape) => {
  const findGuard = (matched: number, rows: number) =>
    evaluate({ matched, shape: shape(field, rows) }).filter((guard) => guard.name === name);
  for (const [matched, rows, hit] of [
    [1000, percent * 10, false],
    [1000, percent * 10 + 1, true],
    [floor, floor - 1, false],
    [floor, floor, true],
  ] as const)
    expect({ matched, rows, hit: findGuard(matched, rows)[0]?.hit }).toEqual({ matched, rows, hit });
  expect(findGuard(1000, 1)[0]).toMatchObject({ field, value: 1 });
});

test.each<[string, Partial<PlanNumbers>, [string, number, number] | undefined]>([
  ['errors in 10 % of the rows pass', { errors: tally(100) }, undefined],
  ['errors in over 10 % of the rows trip a guard', { errors: tally(101) }, ['errors', 101, 100]],
  ['errors in four of five rows pass', { rows: 5, errors: tally(4) }, undefined],
  ['errors in five of five rows trip a guard', { rows: 5, errors: tally(5) }, ['errors', 5, 4]],
  ['10 % foreign users pass', { foreign: { ...tally(100), known: 0 } }, undefined],
  [
    'over 10 % foreign users trip a guard',
    { foreign: { ...tally(101), known: 0 } },
    ['foreign_dataset', 101, 100],
  ],
  ['approved foreign users pass', { foreign: { ...tally(500), known: 480 } }, undefined],
  [
    'more foreign users than were approved trip a guard',
    { foreign: { ...tally(700), known: 480 } },
    ['foreign_dataset', 700, 580],
  ],
  ['an earlier file without changes passes', { sameFile: 0 }, undefined],
  ['an earlier file with changes trips a guard', { sameFile: 1 }, ['old_file', 1, 0]],
  ['reverting half of the last run passes', { undone: { ...tally(10), of: 20 } }, undefined],
  ['reverting over half of a run trips a guard', { undone: { ...tally(11), of: 20 } }, ['old_file', 11, 10]],
  ['reverting four of four changes passes', { undone: { ...tally(4), of: 4 } }, undefined],
  ['reverting five of five changes trips a guard', { undone: { ...tally(5), of: 5 } }, ['old_file', 5, 4]],
  ['repeating a reverted change trips a guard', { repeated: tally(1) }, ['after_revert', 1, 0]],
])('in an import plan, %s', (_, plan, hit) => {
  expect(findHits(plan)).toEqual(hit ? [hit] : []);
});

test('a tripped guard has at most five examples', () => {
  const examples = Array.from({ length: 8 }, (_, i) => ({
    line: i - 1,
    external_id: `e${i}`,
    old: 'x'.repeat(500),
    new: null,
  }));
  const [guard] = evaluate({ deactivations: { count: 101, examples } });
  expect(guard?.examples).toHaveLength(5);
  expect(guard?.examples[0]).toEqual({
    line: null,
    external_id: 'e0',
    old: expect.stringMatching(/^x{100,200}/),
    new: null,
  });
  expect(evaluate({ deactivations: { count: 1, examples } })[0]?.examples).toEqual([]);
});

test('every limit of the guards has a setting', () => {
  const numbers = Object.fromEntries(
    Object.keys(loadEnv({}))
      .filter((name) => /^IMPORT_(MAX|MIN_SIZE|WEEK|SMALL)/.test(name))
      .map((name, i) => [name, i + 1]),
  );
  const env = Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, String(value)]));
  const values = Object.values(limitsOf(loadEnv(env))).flatMap((limit: object) => Object.values(limit));
  expect(values.sort()).toEqual(Object.values(numbers).sort());
});

test('the error for a retired setting names the new setting', () => {
  expect(() => loadEnv({ IMPORT_MAX_COLUMN: '4711' })).toThrow(EnvError);
  expect(() => loadEnv({ IMPORT_MAX_COLUMN: '4711' })).toThrow(
    /IMPORT_MAX_COLUMN is no longer supported. Set IMPORT_MAX_CHANGED/,
  );
  expect(() => loadEnv({ IMPORT_MAX_COLUMN: '4711' })).not.toThrow(/4711/);
});
