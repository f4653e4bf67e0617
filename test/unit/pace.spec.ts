import { expect, test } from '@jest/globals';
import { Pace } from '../../src/import/apply/pace.js';

/** The batches of each transaction, where a batch takes so long. */
function batches(transactions: number, millisOf: (transaction: number) => number): number[] {
  const pace = new Pace('sqlite');
  return Array.from({ length: transactions }, (_, transaction) => {
    const count = pace.batches;
    pace.took(count, count * millisOf(transaction));
    return count;
  });
}

test('transactions grow until they take 30 ms', () => {
  expect(batches(6, () => 5)).toEqual([1, 2, 4, 6, 6, 6]);
});

test('they have one batch at least and ten at most, however slow or fast the database is', () => {
  expect(batches(4, () => 1000)).toEqual([1, 1, 1, 1]);
  expect(batches(6, () => 0)).toEqual([1, 2, 4, 8, 10, 10]);
});

test('one that was slow is followed by a small one', () => {
  expect(batches(6, (transaction) => (transaction === 4 ? 20 : 3))).toEqual([1, 2, 4, 8, 10, 1]);
});
