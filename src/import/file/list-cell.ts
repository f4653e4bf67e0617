/**
 * Several values in one cell, separated by `|`. A `|` inside a value is written `\|`, and backslashes are doubled only
 * where they stand before a `|`, so that `DOMAIN\name` is written, and typed by people, as it is.
 */
export function joinList(values: readonly string[]): string {
  const [only] = values;
  if (only !== undefined && values.length === 1 && !only.includes('|')) return only; // the usual cell
  return values
    .map((value, index) => {
      const escaped = value.replace(/(\\*)\|/g, '$1$1\\|');
      return index < values.length - 1 ? escaped.replace(/(\\+)$/, '$1$1') : escaped;
    })
    .join('|');
}

/** The values of a cell, trimmed; empty ones are dropped. */
export function splitList(cell: string): string[] {
  if (!cell.includes('|')) return isBlank(cell) ? [] : [cell.trim()];
  const values: string[] = [];
  let value = '';
  let at = 0;
  for (const match of cell.matchAll(/(\\*)\|/g)) {
    const slashes = match[1] ?? '';
    value += cell.slice(at, match.index) + '\\'.repeat(slashes.length / 2);
    at = match.index + match[0].length;
    if (slashes.length % 2 === 1) {
      value += '|';
    } else {
      values.push(value);
      value = '';
    }
  }
  values.push(value + cell.slice(at));
  return values.filter((value) => !isBlank(value)).map((value) => value.trim());
}

const isBlank = (text: string): boolean => text.trim() === '';
