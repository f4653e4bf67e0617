import { expect, test } from '@jest/globals';
import { PlannedChanges } from '../../src/import/plan/compact-collections.js';
import { ExchangedValues, FrequentValues, OldValues } from '../../src/import/guards/column-shape.js';

/** Creates the example row of a line. */
const row = (line: number) => () => ({ line, external_id: `e${line}`, old: null, new: null });

test('the most frequent value is counted exactly up to 1,024 different values', () => {
  const few = new FrequentValues();
  for (let i = 0; i < 3000; i++) few.add(i % 3 === 0 ? 'same' : `v${i % 1000}`, row(i));
  expect(few.most.count).toBe(1000);
  const many = new FrequentValues();
  for (let i = 0; i < 40_000; i++) many.add(i % 2 === 0 ? 'same' : `v${i}`, row(i));
  expect(many.most.count).toBeLessThanOrEqual(20_000);
  expect(many.most.count).toBeGreaterThan(20_000 - 40);
  expect(many.most.examples.map(({ line }) => line % 2)).toEqual(Array(10).fill(0));
});

test('a removed row does not count for the most frequent value', () => {
  const values = new FrequentValues();
  for (const line of [2, 3, 4]) values.add('same', row(line));
  values.remove('same', 3);
  expect([values.most.count, values.most.examples.map(({ line }) => line)]).toEqual([2, [4]]);
});

test('more than ten different old values in a column are treated as many', () => {
  const values = new OldValues('phone');
  for (let i = 0; i < 100; i++) values.add(`v${i % 10}`);
  expect(values.areMany).toBe(false);
  values.add('another');
  expect(values.areMany).toBe(true);
});

test('values that move between rows are counted exactly for 30,000 rows', () => {
  const countExchanged = (rows: number): number => {
    const values = new ExchangedValues();
    for (let i = 0; i < rows; i++) {
      values.release(`p${i}`);
      values.take(`p${i + 1}`, row(i));
    }
    return values.found.count;
  };
  expect(countExchanged(30_000)).toBe(29_999);
  expect(Math.abs(countExchanged(100_000) / 100_000 - 1)).toBeLessThan(0.05);
});

test('a value counts as moved only if another row loses it', () => {
  const values = new ExchangedValues();
  for (let i = 0; i < 100_000; i++) {
    values.release(`old${i}`);
    values.take(`new${i}`, row(i));
  }
  expect(values.found).toEqual({ count: 0, examples: [] });
});

test('a planned change is found by user, field and value', () => {
  const changes = new PlannedChanges();
  expect(changes.isEmpty).toBe(true);
  for (let i = 1; i <= 5000; i++) changes.add(`u${i}`, 'phone', `+${i}`, i);
  changes.add('gone', 'status', 'Blocked', -1);
  expect(changes.findLine('u4711', 'phone', '+4711')).toBe(4711);
  expect(changes.findLine('gone', 'status', 'Blocked')).toBe(-1);
  expect(changes.findLine('u4711', 'mobile', '+4711')).toBeUndefined();
  expect(changes.findLine('u4711', 'phone', '+4712')).toBeUndefined();
  changes.remove('u4711', 'phone', '+4711');
  expect(changes.findLine('u4711', 'phone', '+4711')).toBeUndefined();
});

test('over the memory limit, only sampled users keep planned changes', () => {
  const changes = new PlannedChanges();
  const count = 300_000;
  for (let i = 1; i <= count; i++) changes.add(`u${i}`, 'phone', i, i);
  let known = 0;
  for (let i = 1; i <= count; i++) {
    const line = changes.isSampled(`u${i}`) ? i : undefined;
    if (changes.findLine(`u${i}`, 'phone', i) !== line) throw new Error(`u${i}`);
    if (line) known++;
  }
  expect(known).toBeGreaterThan(count / 4 - 5000);
  expect(known).toBeLessThan(count / 2 + 5000);
});
