import { expect, test } from '@jest/globals';
import { BatchSizer } from '../../src/platform/database/transaction-runner.js';

/** The batches of each transaction, where a batch takes so long, and others write beside it. */
function batches(
  transactions: number,
  millisOf: (transaction: number) => number,
  othersWrite: (transaction: number) => boolean = () => true,
): number[] {
  const sizer = new BatchSizer('sqlite');
  return Array.from({ length: transactions }, (_, transaction) => {
    const count = sizer.batches;
    sizer.recordDuration(count, count * millisOf(transaction), othersWrite(transaction));
    return count;
  });
}

test('transactions beside other writers grow until they take 12 ms', () => {
  expect(batches(6, () => 2)).toEqual([1, 2, 4, 6, 6, 6]);
});

test('they have one batch at least and forty at most, however slow or fast the database is', () => {
  expect(batches(4, () => 1000)).toEqual([1, 1, 1, 1]);
  expect(batches(8, () => 0)).toEqual([1, 2, 4, 8, 16, 32, 40, 40]);
});

test('one that was slow is followed by a small one', () => {
  expect(batches(6, (transaction) => (transaction === 4 ? 20 : 1))).toEqual([1, 2, 4, 8, 12, 1]);
});

test('when nobody else has written for a while they take 40 ms, until somebody does', () => {
  const alone = batches(
    30,
    () => 2,
    (transaction) => transaction < 3 || transaction === 27,
  );
  expect(alone.slice(3, 23)).toEqual(Array.from({ length: 20 }, () => 6));
  expect(alone.slice(23)).toEqual([12, 20, 20, 20, 20, 6, 6]);
});
