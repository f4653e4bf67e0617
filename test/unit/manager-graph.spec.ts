import { expect, test } from '@jest/globals';
import { findApplyOrder } from '../../src/import/plan/plan-builder.js';
import { ManagerGraph } from '../../src/users/set-rules/manager-graph.js';
import { createRandom } from '../support/data/random.js';

type Managers = Map<string, string | null>;
/** `before` is undefined for a new user. */
type Row = [line: number, user: string, manager: string | null, before: string | null | undefined];

function buildGraph(rows: readonly Row[], known: readonly (readonly [string, string | null])[] = []) {
  const graph = new ManagerGraph();
  for (const row of rows) add(graph, row);
  for (const [user, manager] of known) graph.addExistingManager(user, manager);
  return graph;
}
function add(graph: ManagerGraph, [change, user, manager, before]: Row): void {
  const constraint = { change, user, creates: before === undefined, released: [], taken: [] };
  graph.add(constraint, { before: before ?? null, after: manager });
}
const toSet = (...lines: number[]) => new Set(lines);
const sort = (lines: Iterable<number>) => [...lines].sort((a, b) => a - b);

test.each<[string, Row[], [string, string | null][], number[]]>([
  ['no rows', [], [], []],
  ['no row of a chain', [[2, 'a', 'b', null], [3, 'b', 'c', null]], [['c', null]], []], // prettier-ignore
  ['both of two rows', [[2, 'a', 'b', null], [3, 'b', 'a', null]], [], [2, 3]], // prettier-ignore
  ['a row that closes a cycle of existing users', [[2, 'a', 'b', null]], [['b', 'c'], ['c', 'a']], [2]], // prettier-ignore
  ['no row if a second row breaks the cycle', [[2, 'a', 'b', null], [3, 'b', null, 'a']], [['b', 'a']], []], // prettier-ignore
  ['the two rows of the cycle, but not the row that leads to it', [[2, 'a', 'b', null], [3, 'b', 'a', null], [4, 'x', 'a', null]], [], [2, 3]], // prettier-ignore
  ['both rows of new users', [[2, 'a', 'b', undefined], [3, 'b', 'a', undefined]], [], [2, 3]], // prettier-ignore
  ['a new user between two existing users', [[2, 'a', 'n', null], [3, 'n', 'b', undefined]], [['b', 'a']], [2, 3]], // prettier-ignore
  ['no row below a new user without a manager', [[2, 'a', 'n', null], [3, 'm', 'a', undefined], [4, 'n', null, undefined]], [], []], // prettier-ignore
  ['the rows of two cycles', [[2, 'a', 'b', null], [3, 'b', 'a', null], [4, 'c', 'd', null], [5, 'd', 'c', null]], [], [2, 3, 4, 5]], // prettier-ignore
  ['a user as their own manager', [[2, 'a', 'a', null]], [], [2]],
])('the manager graph finds the rows in a management cycle: %s', (_, rows, known, lines) => {
  expect(sort(buildGraph(rows, known).findCycles().flat())).toEqual(lines);
});

test('the manager graph restores the manager of a failed row', () => {
  const graph = buildGraph([
    [2, 'a', 'b', null],
    [3, 'b', null, 'a'],
  ]);
  expect(graph.findCycles()).toEqual([]);
  graph.restoreManagers(toSet(3));
  expect(graph.findCycles()).toEqual([[2]]);
  graph.restoreManagers(toSet(2, 3));
  expect(graph.findCycles()).toEqual([]);
  expect([...graph.listOrderPairs()]).toEqual([]);
});

test('a manager change waits for the row of an indirect manager', () => {
  const graph = buildGraph(
    [
      [2, 'a', 'b', null],
      [3, 'c', 'd', 'a'],
      [4, 'new', 'a', undefined],
    ],
    [['b', 'c']],
  );
  expect([...graph.listOrderPairs()]).toEqual([[2, 3]]);
});

test('the manager graph ignores a cycle that no row changes', () => {
  const known: [string, string][] = [
    ['b', 'c'],
    ['c', 'b'],
  ];
  const graph = buildGraph([[2, 'a', 'b', null]], known);
  expect(graph.findCycles()).toEqual([]);
  expect([...graph.listOrderPairs()]).toEqual([]);
});

const hasCircle = (managers: Managers): boolean =>
  [...managers.keys()].some((start) => {
    let at = managers.get(start) ?? null;
    for (let steps = 0; at !== null && steps <= managers.size; steps++) at = managers.get(at) ?? null;
    return at !== null;
  });

test('applying random rows in the planned order never creates a cycle', () => {
  const random = createRandom(20_250_104);
  let undone = 0;
  for (let round = 0; round < 1_500; round++) {
    const size = 3 + random(7);
    const users = Array.from({ length: size }, (_, index) => `u${index}`);
    const pickManager = (below: number): string | null =>
      random(4) === 0 ? null : (users[random(below)] ?? null);
    const database: Managers = new Map(
      users.map((user, index) => [user, index === 0 ? null : pickManager(index)]),
    );
    const rows = users.flatMap((user, index): Row[] => {
      const manager = pickManager(size);
      const before = database.get(user) ?? null;
      return random(2) === 0 || manager === before ? [] : [[index + 2, user, manager, before]];
    });
    const graph = buildGraph(rows, [...database]);
    const lost: number[] = [];
    for (let circles = graph.findCycles(); circles.length > 0; circles = graph.findCycles()) {
      lost.push(...circles.flat());
      graph.restoreManagers(toSet(...lost));
    }
    undone += lost.length;
    const remaining = rows.filter(([line]) => !lost.includes(line));
    const late = findApplyOrder(() => graph.listOrderPairs()).flat();
    const early = remaining.map(([line]) => line).filter((line) => !late.includes(line));
    const live = new Map(database);
    for (const line of [...early, ...late]) {
      const row = remaining.find((one) => one[0] === line);
      if (!row) throw new Error('a row that has failed is applied');
      live.set(row[1], row[2]);
      expect(hasCircle(live)).toBe(false);
    }
    expect(early.length + late.length).toBe(remaining.length);
  }
  expect(undone).toBeGreaterThan(500);
});

const LENGTH = 100_000;
const chainOf = (top: string | null) =>
  Array.from({ length: LENGTH }, (_, i): Row => [i + 2, `u${i}`, i + 1 < LENGTH ? `u${i + 1}` : top, null]);

test('a chain of 100,000 managers does not overflow the stack', () => {
  const graph = buildGraph(chainOf(null));
  expect(graph.findCycles()).toEqual([]);
  expect(findApplyOrder(() => graph.listOrderPairs()).length).toBe(LENGTH - 1);
});

test('a cycle of 300,000 managers does not overflow the stack', () => {
  const graph = new ManagerGraph();
  for (let i = 0; i < 300_000; i++) add(graph, [i + 2, `u${i}`, `u${(i + 1) % 300_000}`, null]);
  expect(graph.findCycles().map(({ length }) => length)).toEqual([300_000]);
});
