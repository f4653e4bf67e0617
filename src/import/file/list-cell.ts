/**
 * Several values in one cell, separated by `|`. A `|` inside a value is written `\|`, and backslashes are doubled only
 * where they stand before a `|`, so that `DOMAIN\name` is written, and typed by people, as it is.
 */
export function joinList(values: readonly string[]): string {
  return values
    .map((value, index) => {
      const escaped = value.replace(/(\\*)\|/g, '$1$1\\|');
      return index < values.length - 1 ? escaped.replace(/(\\+)$/, '$1$1') : escaped;
    })
    .join('|');
}

/** The values of a cell, trimmed; empty ones are dropped. */
export function splitList(cell: string): string[] {
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
  return values.map((item) => item.trim()).filter((item) => item !== '');
}
