import { expect, test } from '@jest/globals';
import { v7 as uuidv7, validate, version } from 'uuid';
import { createOrderedUuids, createUuidAfter } from '../../src/platform/common/uuid.js';

test('new UUIDs are unique and greater than earlier UUIDs', () => {
  const lists = Array.from({ length: 50 }, (_, count) => [uuidv7(), ...createOrderedUuids(count * 20)]);
  for (const hours of [-48, 1, 48]) {
    const chain = [uuidv7({ msecs: Date.now() + hours * 3_600_000, seq: 0xffff_ffff })];
    for (let count = 0; count < 20; count++) chain.push(createUuidAfter(chain.at(-1)!));
    lists.push(chain);
  }
  lists.push([uuidv7(), createUuidAfter('ffffffff-ffff-7fff-bfff-ffffffffffff')]);
  for (const list of lists) expect(list.toSorted()).toEqual(list);
  const all = lists.flat();
  expect(new Set(all).size).toBe(all.length);
  expect(all.every((uuid) => validate(uuid) && version(uuid) === 7)).toBe(true);
  expect(createOrderedUuids(0)).toEqual([]);
});
