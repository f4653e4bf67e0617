/** Aligns rows as columns of text; numbers are right-aligned. Control characters, which a terminal would act on, are replaced. */
export function table(cells: readonly (readonly (string | number)[])[]): string {
  const rows = cells.map((row) =>
    row.map((cell) => (typeof cell === 'number' ? cell : cell.replace(/\p{Cc}/gu, '\ufffd'))),
  );
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries())
      widths[index] = Math.max(widths[index] ?? 0, String(cell).length);
  }
  return rows
    .map((row) =>
      row
        .map((cell, index) =>
          typeof cell === 'number'
            ? String(cell).padStart(widths[index] ?? 0)
            : cell.padEnd(widths[index] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}

/** A value for programs. */
export const toJson = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;
