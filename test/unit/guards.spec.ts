import { describe, expect, test } from '@jest/globals';
import { EnvError, loadEnv } from '../../src/platform/config/env.js';
import { limitsOf } from '../../src/import/runs/guard-limits.js';
import type { PlanNumbers } from '../../src/import/guards/guards.js';
import type { ShapeTally } from '../../src/import/guards/plan-tally.js';
import { of, guards, hits, other, emptied, type Missing } from './guard-plans.js';

test('a plan without surprises lists its guards and hits none', () => {
  const all = guards(
    { lastRows: 1000, undone: { ...of(0), of: 10 }, repeated: of(0), shape: other('phone', 1) },
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

describe.each(['deactivations', 'reactivations'] as const)('%s: over max(5, 10 %%), or over 200', (name) => {
  test.each([
    [50, 5, undefined],
    [50, 6, 5],
    [59, 6, 5],
    [60, 6, undefined],
    [60, 7, 6],
    [1000, 100, undefined],
    [1000, 101, 100],
    [1_000_000, 200, undefined],
    [1_000_000, 201, 200],
  ])('of %d active, %d', (activeInScope, value, limit) => {
    expect(hits({ activeInScope, [name]: of(value) })).toEqual(
      limit === undefined ? [] : [[name, value, limit]],
    );
  });
  test.each<[number, number, number, number | undefined]>([
    [5, 5, 50, undefined],
    [5, 6, 50, 10],
    [1, 10, 50, 10],
    [0, 500, 50, undefined], // a night without any is no part of it
    [200, 200, 1_000_000, undefined],
    [200, 201, 1_000_000, 400],
  ])(
    '%d after %d in the week before, of %d: at most twice as many',
    (value, before, activeInScope, limit) => {
      const week = { deactivations: 0, reactivations: 0, [name]: before };
      expect(hits({ activeInScope, [name]: of(value), week })).toEqual(
        limit === undefined ? [] : [[name, value + before, limit]],
      );
    },
  );
});

describe('a data set of fewer than 50', () => {
  const small = (plan: Partial<PlanNumbers>) => ({
    linked: 49,
    activeInScope: 8,
    matched: 8,
    rows: 8,
    ...plan,
  });
  test.each<[string, number, (count: number) => Partial<PlanNumbers>]>([
    ['deactivated', 3, (count) => ({ deactivations: of(count) })],
    ['reactivated', 5, (count) => ({ reactivations: of(count) })],
    ['of another data set', 4, (count) => ({ foreign: { ...of(count), known: 0 } })],
    ['changed', 2, (count) => ({ shape: other('phone', count) })],
    ['emptied', 2, (count) => ({ shape: emptied('phone', count) })],
    ['with another role', 2, (count) => ({ shape: other('roles', count) })],
    ['new and lost ids', 3, (count) => ({ linked: 8, newKeys: of(count), lostKeys: count })],
  ])('%s: at most %d', (_, most, plan) => {
    expect(hits(small(plan(most)))).toEqual([]);
    expect(hits(small(plan(most + 1)))).not.toEqual([]);
  });
  test('of 50 the floors are those of all', () => {
    expect(hits(small({ linked: 50, deactivations: of(5), shape: other('phone', 4) }))).toEqual([]);
  });
});

test.each<[number, number, boolean]>([
  [200, 200, false],
  [201, 200, false],
  [200, 201, false],
  [201, 201, true],
])('changed keys: of 1000 linked, %d new and %d lost', (count, lostKeys, hit) => {
  expect(hits({ newKeys: of(count), lostKeys })).toEqual(hit ? [['changed_keys', count, 200]] : []);
});

test.each<[number | null, number, Missing, number | undefined]>([
  [null, 1, 'block', undefined],
  [1000, 800, 'block', undefined],
  [1000, 799, 'block', 800],
  [1000, 1, 'keep', undefined],
  [1000, 1, 'report', undefined],
  [3, 2, 'block', undefined], // one may leave in any night
  [3, 1, 'block', 2],
  [8, 6, 'block', 7],
])('a file shrunken from %p rows to %d, missing=%s', (lastRows, rows, missing, limit) => {
  expect(hits({ lastRows, rows }, missing)).toEqual(
    limit === undefined ? [] : [['shrunken_file', rows, limit]],
  );
});

/** [guard, field, share, floor] */
test.each<[string, string, number, number, (field: string, rows: number) => ShapeTally]>([
  ['changed_field', 'phone', 20, 5, other],
  ['changed_field', 'manager_uuid', 20, 5, other],
  ['changed_field', 'username', 10, 3, other],
  ['changed_field', 'email', 10, 3, other],
  ['changed_field', 'authname', 10, 3, other],
  ['changed_field', 'roles', 10, 3, other],
  ['emptied_field', 'phone', 10, 5, emptied],
  ['emptied_field', 'authname', 10, 5, emptied],
])('%s of %s: over %d %% and at least %d', (name, field, percent, floor, shape) => {
  const named = (matched: number, rows: number) =>
    guards({ matched, shape: shape(field, rows) }).filter((guard) => guard.name === name);
  for (const [matched, rows, hit] of [
    [1000, percent * 10, false],
    [1000, percent * 10 + 1, true],
    [floor, floor - 1, false],
    [floor, floor, true],
  ] as const)
    expect({ matched, rows, hit: named(matched, rows)[0]?.hit }).toEqual({ matched, rows, hit });
  expect(named(1000, 1)[0]).toMatchObject({ field, value: 1 });
});

test.each<[string, Partial<PlanNumbers>, [string, number, number] | undefined]>([
  ['errors', { errors: of(100) }, undefined],
  ['errors', { errors: of(101) }, ['errors', 101, 100]],
  ['errors of few rows', { rows: 5, errors: of(4) }, undefined],
  ['errors of few rows', { rows: 5, errors: of(5) }, ['errors', 5, 4]],
  ['foreign users', { foreign: { ...of(100), known: 0 } }, undefined],
  ['foreign users', { foreign: { ...of(101), known: 0 } }, ['foreign_dataset', 101, 100]],
  ['foreign users that an operator has approved', { foreign: { ...of(500), known: 480 } }, undefined],
  [
    'more foreign users than approved',
    { foreign: { ...of(700), known: 480 } },
    ['foreign_dataset', 700, 580],
  ],
  ['an earlier file that changes nothing', { sameFile: 0 }, undefined],
  ['an earlier file', { sameFile: 1 }, ['old_file', 1, 0]],
  ['half of the last run changed back', { undone: { ...of(10), of: 20 } }, undefined],
  ['over half of the last run changed back', { undone: { ...of(11), of: 20 } }, ['old_file', 11, 10]],
  ['four of four changed back', { undone: { ...of(4), of: 4 } }, undefined],
  ['five of five changed back', { undone: { ...of(5), of: 5 } }, ['old_file', 5, 4]],
  ['a change that a revert undid', { repeated: of(1) }, ['after_revert', 1, 0]],
])('%s %#', (_, plan, hit) => {
  expect(hits(plan)).toEqual(hit ? [hit] : []);
});

test('only a hit has examples: up to five, with long values cut', () => {
  const examples = Array.from({ length: 8 }, (_, i) => ({
    line: i - 1,
    external_id: `e${i}`,
    old: 'x'.repeat(500),
    new: null,
  }));
  const [guard] = guards({ deactivations: { count: 101, examples } });
  expect(guard?.examples).toHaveLength(5);
  expect(guard?.examples[0]).toEqual({
    line: null,
    external_id: 'e0',
    old: expect.stringMatching(/^x{100,200}/),
    new: null,
  });
  expect(guards({ deactivations: { count: 1, examples } })[0]?.examples).toEqual([]);
});

test('every limit is a setting', () => {
  const numbers = Object.fromEntries(
    Object.keys(loadEnv({}))
      .filter((name) => /^IMPORT_(MAX|MIN_SIZE|WEEK|SMALL)/.test(name))
      .map((name, i) => [name, i + 1]),
  );
  const env = Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, String(value)]));
  const limits = limitsOf(loadEnv(env));
  const values = Object.values(limits).flatMap((limit: object) => Object.values(limit));
  expect(values.sort()).toEqual(Object.values(numbers).sort());
});

test('a setting that was replaced is refused with the name of the new one, and without its value', () => {
  expect(() => loadEnv({ IMPORT_MAX_COLUMN: '4711' })).toThrow(EnvError);
  expect(() => loadEnv({ IMPORT_MAX_COLUMN: '4711' })).toThrow(
    /IMPORT_MAX_COLUMN is no longer supported. Set IMPORT_MAX_CHANGED/,
  );
  expect(() => loadEnv({ IMPORT_MAX_COLUMN: '4711' })).not.toThrow(/4711/);
});
