import { expect, test } from '@jest/globals';
import { v7 as uuidv7, validate, version } from 'uuid';
import { createOrderedUuids } from '../../src/platform/common/uuid.js';

test('new UUIDs are unique and greater than earlier UUIDs', () => {
  const lists = Array.from({ length: 50 }, (_, count) => [uuidv7(), ...createOrderedUuids(count * 20)]);
  for (const list of lists) expect(list.toSorted()).toEqual(list);
  const all = lists.flat();
  expect(new Set(all).size).toBe(all.length);
  expect(all.every((uuid) => validate(uuid) && version(uuid) === 7)).toBe(true);
  expect(createOrderedUuids(0)).toEqual([]);
});
