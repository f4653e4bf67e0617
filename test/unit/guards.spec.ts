import { describe, expect, test } from '@jest/globals';
import { loadEnv } from '../../src/config/env.js';
import { GuardSettings } from '../../src/import/plan/guards.js';
import { guardsOf, type PlanNumbers } from '../../src/import/plan/guards.js';

const LIMITS = new GuardSettings(loadEnv({ NODE_ENV: 'test' }));
const QUIET: PlanNumbers = {
  rows: 1000,
  errors: 0,
  activeInScope: 0,
  linked: 0,
  matched: 0,
  deactivations: 0,
  reactivations: 0,
  newKeys: 0,
  lostKeys: 0,
  emptied: {},
  usernamesChanged: 0,
  emailsChanged: 0,
  lastRows: null,
};
const hits = (plan: Partial<PlanNumbers>, missing: 'keep' | 'report' | 'block' = 'keep') =>
  guardsOf({ ...QUIET, ...plan }, LIMITS, missing)
    .filter(({ hit }) => hit)
    .map(({ name, value, limit }) => [name, value, limit]);

test('the limits are those of the interface', () => {
  expect(LIMITS).toMatchObject({
    deactivations: { percent: 10, rows: 5 },
    reactivations: { percent: 10, rows: 5 },
    newKeys: { percent: 20, rows: 5 },
    column: { percent: 20, rows: 20 },
    errors: { percent: 10, rows: 20 },
    shrunkenPercent: 80,
  });
});

test('a plan without surprises lists every guard and hits none', () => {
  const guards = guardsOf({ ...QUIET, lastRows: 1000, emptied: { phone: 0 } }, LIMITS, 'block');
  expect(guards.map(({ name }) => name)).toEqual([
    'deactivations',
    'reactivations',
    'changed_keys',
    'shrunken_file',
    'emptied_phone',
    'usernames_changed',
    'emails_changed',
    'errors',
  ]);
  expect(guards.filter(({ hit }) => hit)).toEqual([]);
});

describe.each(['deactivations', 'reactivations'] as const)('%s: over max(5, 10 %% of the active)', (name) => {
  test.each([
    [0, 5, undefined],
    [0, 6, 5],
    [50, 5, undefined],
    [50, 6, 5],
    [59, 6, 5.9],
    [60, 6, undefined],
    [60, 7, 6],
    [1000, 100, undefined],
    [1000, 101, 100],
    [1_000_000, 100_000, undefined],
    [1_000_000, 100_001, 100_000],
  ])('of %d active, %d', (activeInScope, value, limit) => {
    expect(hits({ activeInScope, [name]: value })).toEqual(limit === undefined ? [] : [[name, value, limit]]);
  });
});

test.each<[number, number, number, number | undefined]>([
  [0, 1_000_000, 0, undefined], // the very first file
  [1000, 200, 200, undefined],
  [1000, 201, 200, undefined],
  [1000, 200, 201, undefined],
  [1000, 201, 201, 200],
  [10, 5, 5, undefined],
  [10, 6, 6, 5],
  [10, 6, 5, undefined],
])('changed keys: of %d linked, %d new and %d lost', (linked, newKeys, lostKeys, limit) => {
  expect(hits({ linked, newKeys, lostKeys })).toEqual(
    limit === undefined ? [] : [['changed_keys', newKeys, limit]],
  );
});

test.each<[number | null, number, 'keep' | 'report' | 'block', number | undefined]>([
  [null, 1, 'block', undefined],
  [1000, 800, 'block', undefined],
  [1000, 799, 'block', 800],
  [1000, 1, 'keep', undefined],
  [1000, 1, 'report', undefined],
  [1, 1, 'block', undefined],
  [2, 1, 'block', 1.6],
  [0, 1, 'block', undefined],
])('a file shrunken from %p rows to %d, missing=%s', (lastRows, rows, missing, limit) => {
  expect(hits({ lastRows, rows }, missing)).toEqual(
    limit === undefined ? [] : [['shrunken_file', rows, limit]],
  );
});

/** Over a share, and at least so many. */
describe.each<[string, number, (value: number, of: number) => Partial<PlanNumbers>]>([
  ['emptied_phone', 20, (value, of) => ({ matched: of, emptied: { surname: 0, phone: value } })],
  ['usernames_changed', 20, (value, of) => ({ matched: of, usernamesChanged: value })],
  ['emails_changed', 20, (value, of) => ({ matched: of, emailsChanged: value })],
  ['errors', 10, (value, of) => ({ rows: of, errors: value })],
])('%s: over %d %% and at least 20', (name, percent, plan) => {
  const whole = 1000;
  const share = (whole * percent) / 100;
  const small = (19 * 100) / percent - 10;
  test.each([
    [whole, share, false],
    [whole, share + 1, true],
    [19, 19, false],
    [20, 20, true],
    [Math.floor(small), 19, false],
    [Math.floor(small), 20, true],
  ])('of %d, %d', (of, value, hit) => {
    expect(hits(plan(value, of)).map(([first, second]) => [first, second])).toEqual(
      hit ? [[name, value]] : [],
    );
  });
});

test('several hits are reported together', () => {
  expect(
    hits({ deactivations: 6, errors: 500, matched: 30, emptied: { phone: 30, surname: 21, email: 5 } }).map(
      ([name]) => name,
    ),
  ).toEqual(['deactivations', 'emptied_phone', 'emptied_surname', 'errors']);
});

test('every limit is a setting', () => {
  const limits = new GuardSettings(
    loadEnv({
      NODE_ENV: 'test',
      IMPORT_MAX_DEACTIVATIONS: '1',
      IMPORT_MAX_DEACTIVATIONS_PERCENT: '2',
      IMPORT_MAX_REACTIVATIONS: '3',
      IMPORT_MAX_REACTIVATIONS_PERCENT: '4',
      IMPORT_MAX_NEW_KEYS: '5',
      IMPORT_MAX_NEW_KEYS_PERCENT: '6',
      IMPORT_MAX_COLUMN: '7',
      IMPORT_MAX_COLUMN_PERCENT: '8',
      IMPORT_MAX_ERRORS: '9',
      IMPORT_MAX_ERRORS_PERCENT: '11',
      IMPORT_MIN_SIZE_PERCENT: '12',
    }),
  );
  expect(limits).toMatchObject({
    deactivations: { percent: 2, rows: 1 },
    reactivations: { percent: 4, rows: 3 },
    newKeys: { percent: 6, rows: 5 },
    column: { percent: 8, rows: 7 },
    errors: { percent: 11, rows: 9 },
    shrunkenPercent: 12,
  });
});
