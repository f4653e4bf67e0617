import { describe, expect, test } from '@jest/globals';
import { ShapeTally } from '../../src/import/guards/plan-tally.js';
import { EMPTY_USER } from '../../src/users/model/user.js';
import { evaluate, shapeOf, updatedRow, createdRow } from './guard-plans.js';

describe('column guards', () => {
  const find = (name: string, shape: ShapeTally, matched = 100) =>
    evaluate({ matched, shape }).find((guard) => guard.name === name);
  test.each<[string, number, number, boolean]>([
    ['do not trip if half of the users get the same value', 50, 20, false],
    ['trip if over half of the users get the same value', 51, 20, true],
    ['do not trip if a common value replaces ten old values', 51, 10, false],
    ['trip if a common value replaces eleven old values', 51, 11, true],
  ])('%s', (_, rows, values, hit) => {
    const shape = shapeOf(rows, 'surname', (i) => [`n${i % values}`, 'Same']);
    expect(find('same_value', shape)?.hit ?? false).toBe(hit);
  });
  test('trip if many empty values of a varied column become equal', () => {
    const shape = shapeOf(60, 'middle_name', () => ['', 'NULL']);
    expect(find('same_value', shape)).toBeUndefined();
    for (let i = 0; i < 11; i++) shape.sample({ ...EMPTY_USER, middle_name: `m${i}` });
    expect(find('same_value', shape)?.hit).toBe(true);
  });
  test.each([
    ['do not trip', 9, false],
    ['trip', 10, true],
  ])('%s if %d of twelve new users have the same surname', (_, rows, hit) => {
    const shape = new ShapeTally();
    for (let i = 0; i < 12; i++)
      shape.add(createdRow(i, { firstname: `f${i}`, surname: i < rows ? 'Same' : `n${i}` }));
    expect(find('same_value', shape)?.hit ?? false).toBe(hit);
  });
  test('trip if all new users have the same full name', () => {
    const shape = new ShapeTally();
    for (let i = 0; i < 12; i++) shape.add(createdRow(i, { firstname: 'Ann', surname: 'Lee' }));
    expect(find('same_value', shape)?.hit).toBe(true);
  });
  test('ignore a new phone number that was not taken from another user', () => {
    const slid = shapeOf(5, 'phone', (i) => [`p${i}`, `p${(i + 1) % 5}`]);
    const fresh = shapeOf(5, 'phone', () => ['old', 'new']);
    expect(slid.moved).toMatchObject({ count: 5, field: 'phone' });
    expect(fresh.moved.count).toBe(0);
  });
  test('do not count the values of a row that fails later', () => {
    const shape = new ShapeTally();
    const rows = [0, 1, 2].map((i) => updatedRow(i, 'phone', `ü${i}`, `?${(i + 1) % 3}`));
    shape.takeLogin(2, 'email');
    for (const row of rows) shape.add(row);
    for (const row of rows) shape.remove(row);
    expect(shape.moved.count).toBe(0);
    expect(shape.garbled.count).toBe(0);
    expect(shape.columns.map((column) => column.changes.count)).toEqual([0]);
    expect(shape.columns.flatMap((column) => column.changes.examples)).toEqual([]);
  });
  test('trip if the values of a boolean column are inverted', () => {
    const turned = shapeOf(100, 'hide_email', (i) => [i < 5, i >= 5]);
    const first = shapeOf(100, 'hide_email', () => [false, true]);
    expect(find('changed_field', turned)?.hit).toBe(true);
    expect(find('changed_field', first)).toBeUndefined();
  });
});

test.each<[string, number, (i: number) => [string, string], boolean]>([
  ['four values cut to the same length pass', 4, (i) => [`Featherstone${i}`, 'Feathe'], false],
  ['five values cut to the same length trip', 5, (i) => [`Featherstone${i}`, 'Feathe'], true],
  [
    'five values cut to different lengths pass',
    5,
    (i) => [`Featherstone${i}`, 'Featherstone'.slice(0, 4 + i)],
    false,
  ],
  ['five values cut after a word pass', 5, () => ['Smith-Jones', 'Smith'], false],
])('among 400 rows, %s the truncation guard', (_, cut, values, hit) => {
  const all = evaluate({ rows: 400, matched: 400, shape: shapeOf(cut, 'surname', values) });
  expect(all.some((guard) => guard.name === 'garbled_text' && guard.hit)).toBe(hit);
});
