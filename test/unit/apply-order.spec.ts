import { expect, test } from '@jest/globals';
import { findRowGroups } from '../../src/import/plan/plan-builder.js';
import { createRandom } from '../support/data/random.js';

type Link = readonly [line: number, needed: number];

/** Returns the rows that each row needs, directly or indirectly. A row needs itself only if it is on a circle. */
function findReachable(links: readonly Link[], size: number): boolean[][] {
  const reach = Array.from({ length: size }, () => Array.from({ length: size }, () => false));
  const row = (line: number): boolean[] => reach[line] ?? [];
  for (const [line, needed] of links) row(line)[needed] = true;
  for (let via = 0; via < size; via++) {
    for (let from = 0; from < size; from++) {
      if (row(from)[via]) for (let to = 0; to < size; to++) if (row(via)[to]) row(from)[to] = true;
    }
  }
  return reach;
}

test('random import rows are ordered by dependency and grouped by cycle', () => {
  const random = createRandom(20_250_103);
  for (let round = 0; round < 500; round++) {
    const size = 2 + random(12);
    const links = Array.from({ length: random(2 * size) }, (): Link => [random(size), random(size)]);
    const reach = findReachable(links, size);
    const groups = findRowGroups(links);
    const groupIndex = new Map(groups.flatMap((group, index) => group.map((line) => [line, index] as const)));

    const waiting = [...new Set(links.map(([line]) => line))].sort((a, b) => a - b);
    expect(groups.flat().sort((a, b) => a - b)).toEqual(waiting);
    for (const [line, needed] of links) {
      expect(groupIndex.get(needed) ?? -1).toBeLessThanOrEqual(groupIndex.get(line) ?? -1);
    }
    const pairs = waiting.flatMap((a) => waiting.map((b): Link => [a, b]));
    const together = pairs.filter(([a, b]) => a === b || (reach[a]?.[b] && reach[b]?.[a]));
    expect(pairs.filter(([a, b]) => groupIndex.get(a) === groupIndex.get(b))).toEqual(together);
  }
});

const LENGTH = 100_000;

test.each<[string, (line: number) => Link]>([
  ['start', (line) => [line, line + 1]],
  ['end', (line) => [LENGTH - line, LENGTH - line + 1]],
])('a chain of 100,000 import rows, listed from the %s, is ordered', (_, link) => {
  const groups = findRowGroups(Array.from({ length: LENGTH }, (__, line) => link(line)));
  const first = Math.max(...groups.flat().slice(0, 1));
  expect(groups).toEqual(Array.from({ length: LENGTH }, (__, index) => [first - index]));
});

test('a dependency cycle of 100,000 import rows forms one group', () => {
  const [group, ...others] = findRowGroups(
    Array.from({ length: LENGTH }, (_, line): Link => [line, (line + 1) % LENGTH]),
  );
  expect([new Set(group).size, others]).toEqual([LENGTH, []]);
});
