import { LineSet } from './compact-storage.js';

type Links = Iterable<readonly [line: number, needed: number]>;

/**
 * The order in which rows that depend on others are applied: what a row needs comes before it, and rows that need each
 * other (a swap of usernames) come together. Rows that can keep their place in the file do.
 * @param links pairs of rows of which the second must be applied no later than the first.
 * @returns groups of rows, to be applied after all rows that are in none.
 */
export function applyOrder(links: () => Links): number[][] {
  const late = lateRows(links);
  return groupsOf(only(links(), late));
}

/** Rows that cannot keep their place in the file: what they need comes after them, or is itself such a row. */
function lateRows(links: () => Links): LineSet {
  const late = new LineSet();
  for (let found = true; found;) {
    found = false;
    for (const [line, needed] of links()) {
      if (late.has(line) || (needed < line && !late.has(needed))) continue;
      late.add(line);
      found = true;
    }
  }
  return late;
}

function* only(links: Links, lines: LineSet): Links {
  for (const link of links) if (lines.has(link[0])) yield link;
}

/** Tarjan's strongly connected components, without recursion. Rows that wait for nothing themselves are in no group. */
export function groupsOf(links: Links): number[][] {
  const needs = new Map<number, number[]>();
  for (const [line, needed] of links) {
    const list = needs.get(line);
    if (list) list.push(needed);
    else needs.set(line, [needed]);
  }
  const index = new Map<number, number>();
  const low = new Map<number, number>();
  const open: number[] = [];
  const isOpen = new Set<number>();
  const groups: number[][] = [];

  const enter = (line: number): { line: number; next: number } => {
    index.set(line, index.size);
    low.set(line, index.size - 1);
    open.push(line);
    isOpen.add(line);
    return { line, next: 0 };
  };
  const lower = (line: number, value: number): void => {
    if (value < (low.get(line) ?? 0)) low.set(line, value);
  };
  const close = (line: number): void => {
    if (low.get(line) !== index.get(line)) return;
    const group = open.splice(open.lastIndexOf(line));
    for (const member of group) isOpen.delete(member);
    // A row that waits for nothing itself keeps its place in the plan, which is before all of these.
    if (group.some((member) => needs.has(member))) groups.push(group);
  };

  for (const start of needs.keys()) {
    const path = index.has(start) ? [] : [enter(start)];
    for (let step = path.at(-1); step; step = path.at(-1)) {
      const needed = needs.get(step.line)?.[step.next++];
      if (needed === undefined) {
        close(step.line);
        path.pop();
        const above = path.at(-1);
        if (above) lower(above.line, low.get(step.line) ?? 0);
      } else if (!index.has(needed)) {
        path.push(enter(needed));
      } else if (isOpen.has(needed)) {
        lower(step.line, index.get(needed) ?? 0);
      }
    }
  }
  return groups;
}
