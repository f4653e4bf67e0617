import { expect, test } from '@jest/globals';
import { validate, version } from 'uuid';
import { createUuidGenerator } from '../../src/import/plan/external-ids.js';

const RUN = { id: '019a0000-0000-7000-8000-000000000001', created: Date.parse('2026-02-03T04:05:06.789Z') };

/** Numbers around every power of two, up to the largest number. */
const NUMBERS = Array.from({ length: 21 }, (_, bit) => [2 ** bit - 1, 2 ** bit])
  .flat()
  .concat(2 ** 21 - 1);

test('every plan of an import assigns the same UUIDs in row order', () => {
  const numbers = [...new Set(NUMBERS)].sort((a, b) => a - b);
  const uuids = numbers.map(createUuidGenerator(RUN));
  expect(uuids.every((uuid) => validate(uuid) && version(uuid) === 7)).toBe(true);
  expect(uuids.toSorted()).toEqual(uuids);
  expect(new Set(uuids).size).toBe(numbers.length);
  expect(numbers.map(createUuidGenerator(RUN))).toEqual(uuids);
});

test('import runs created in the same millisecond assign different UUIDs', () => {
  const other = { ...RUN, id: '019a0000-0000-7000-8000-000000000002' };
  expect(createUuidGenerator(other)(1)).not.toBe(createUuidGenerator(RUN)(1));
});

test('UUIDs of new users contain the creation time of the import', () => {
  expect(parseInt(createUuidGenerator(RUN)(1).replace('-', '').slice(0, 12), 16)).toBe(RUN.created);
});
