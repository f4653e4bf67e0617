import { expect, test } from '@jest/globals';
import { BATCH_TARGETS, BatchSizer } from '../../src/platform/database/transaction-runner.js';

/** Returns the number of batches in each transaction. `millisOf` is the duration of a batch in milliseconds. */
function countBatches(
  transactions: number,
  millisOf: (transaction: number) => number,
  othersWrite: (transaction: number) => boolean = () => true,
): number[] {
  const sizer = new BatchSizer(BATCH_TARGETS.sqlite);
  return Array.from({ length: transactions }, (_, transaction) => {
    const count = sizer.batches;
    sizer.recordDuration(count, count * millisOf(transaction), othersWrite(transaction));
    return count;
  });
}

test('a write transaction takes at most 12 ms alongside other writers', () => {
  expect(countBatches(6, () => 2)).toEqual([1, 2, 4, 6, 6, 6]);
});

test('a write transaction has 1 to 40 batches of rows', () => {
  expect(countBatches(4, () => 1000)).toEqual([1, 1, 1, 1]);
  expect(countBatches(8, () => 0)).toEqual([1, 2, 4, 8, 16, 32, 40, 40]);
});

test('after a slow write transaction, the next transaction has only one batch', () => {
  expect(countBatches(6, (transaction) => (transaction === 4 ? 20 : 1))).toEqual([1, 2, 4, 8, 12, 1]);
});

test('after 8 transactions without other writers, a transaction may take 36 ms', () => {
  const alone = countBatches(
    18,
    () => 2,
    (transaction) => transaction < 3 || transaction === 15,
  );
  expect(alone.slice(3, 11)).toEqual(Array.from({ length: 8 }, () => 6));
  expect(alone.slice(11)).toEqual([12, 18, 18, 18, 18, 6, 6]);
});
