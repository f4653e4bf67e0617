import { describe, expect, test } from '@jest/globals';
import { ShapeTally } from '../../src/import/guards/plan-tally.js';
import { EMPTY_USER } from '../../src/users/model/user.js';
import { guards, shapeOf, updated, created } from './guard-plans.js';

describe('the shape of a column', () => {
  const named = (name: string, shape: ShapeTally, matched = 100) =>
    guards({ matched, shape }).find((guard) => guard.name === name);
  test.each<[string, number, number, boolean]>([
    ['half', 50, 20, false],
    ['over half', 51, 20, true],
    ['over half, of ten values', 51, 10, false],
    ['over half, of eleven values', 51, 11, true],
  ])('one value for %s of the users', (_, rows, values, hit) => {
    const shape = shapeOf(rows, 'surname', (i) => [`n${i % values}`, 'Same']);
    expect(named('same_value', shape)?.hit ?? false).toBe(hit);
  });
  test('one value for those who had none, in a column in which the others differ', () => {
    const shape = shapeOf(60, 'middle_name', () => ['', 'NULL']);
    expect(named('same_value', shape)).toBeUndefined();
    for (let i = 0; i < 11; i++) shape.sample({ ...EMPTY_USER, middle_name: `m${i}` });
    expect(named('same_value', shape)?.hit).toBe(true);
  });
  test.each([
    [9, false],
    [10, true],
  ])('one value for %d of twelve new users', (rows, hit) => {
    const shape = new ShapeTally();
    for (let i = 0; i < 12; i++)
      shape.add(created(i, { firstname: `f${i}`, surname: i < rows ? 'Same' : `n${i}` }));
    expect(named('same_value', shape)?.hit ?? false).toBe(hit);
  });
  test('new users of one forename and one surname together are as many of one name', () => {
    const shape = new ShapeTally();
    for (let i = 0; i < 12; i++) shape.add(created(i, { firstname: 'Ann', surname: 'Lee' }));
    expect(named('same_value', shape)?.hit).toBe(true);
  });
  test('a phone that another row gives up is moved, one that nobody gives up or the own row is not', () => {
    const slid = shapeOf(5, 'phone', (i) => [`p${i}`, `p${(i + 1) % 5}`]);
    const fresh = shapeOf(5, 'phone', () => ['old', 'new']);
    expect([slid.moved.count, slid.moved.field, fresh.moved.count]).toEqual([5, 'phone', 0]);
  });
  test('a row that fails after all is counted nowhere', () => {
    const shape = new ShapeTally();
    const rows = [0, 1, 2].map((i) => updated(i, 'phone', `ü${i}`, `?${(i + 1) % 3}`));
    shape.takeLogin(2, 'email');
    for (const row of rows) shape.add(row);
    for (const row of rows) shape.remove(row);
    expect([
      shape.moved.count,
      shape.garbled.count,
      shape.columns.map((column) => column.changes.count),
    ]).toEqual([0, 0, [0]]);
    expect(shape.columns.flatMap((column) => column.changes.examples)).toEqual([]);
  });
  test('yes and no: a column that is turned round counts, one that is used for the first time does not', () => {
    const turned = shapeOf(100, 'hide_email', (i) => [i < 5, i >= 5]);
    const first = shapeOf(100, 'hide_email', () => [false, true]);
    expect([named('changed_field', turned)?.hit, named('changed_field', first)]).toEqual([true, undefined]);
  });
});

test.each<[string, number, (i: number) => [string, string], boolean]>([
  ['four values cut at one length', 4, (i) => [`Featherstone${i}`, 'Feathe'], false],
  ['five values cut at one length', 5, (i) => [`Featherstone${i}`, 'Feathe'], true],
  ['five cut at several lengths', 5, (i) => [`Featherstone${i}`, 'Featherstone'.slice(0, 4 + i)], false],
  ['five cut at the end of a word', 5, () => ['Smith-Jones', 'Smith'], false],
])('a cut column: %s, of 400', (_, cut, values, hit) => {
  const all = guards({ rows: 400, matched: 400, shape: shapeOf(cut, 'surname', values) });
  expect(all.some((guard) => guard.name === 'garbled_text' && guard.hit)).toBe(hit);
});
