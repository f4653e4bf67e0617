import { COLUMNS, type Column, headerKey } from './columns.js';

/** Every name of a column that a person may have meant. */
const NAMES = COLUMNS.flatMap((column) =>
  [column.name, ...column.aliases].map((name) => ({ key: headerKey(name), column })),
);
/** More letters than a name has are not compared. */
const LONGEST = Math.max(...NAMES.map(({ key }) => key.length)) + 2;

/**
 * The column whose name, or other name, differs least from a header: by at most one letter in three, and two in all. A
 * letter too many, too few, another one, and two that are swapped count as one.
 */
export function nearestColumn(header: string): Column | undefined {
  const key = headerKey(header);
  if (key.length > LONGEST) return undefined;
  const most = Math.min(2, Math.floor(key.length / 3));
  let nearest: { distance: number; column: Column } | undefined;
  for (const { key: name, column } of NAMES) {
    const distance = editDistance(key, name);
    if (distance <= most && distance < (nearest?.distance ?? Infinity)) nearest = { distance, column };
  }
  return nearest?.column;
}

/** The distance of Damerau and Levenshtein in its restricted form: no letter is edited twice. */
function editDistance(a: string, b: string): number {
  let above: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(above, j - 2) + 1 : Infinity;
      next.push(Math.min(at(row, j) + 1, at(next, j - 1) + 1, at(row, j - 1) + same, swapped));
    }
    [above, row] = [row, next];
  }
  return at(row, b.length);
}

const at = (list: readonly number[], index: number): number => list[index] ?? Infinity;
