/** Start of text that a spreadsheet would treat as a formula (docs/security.md). */
const FORMULA = /^[=+\-@\uff1d\uff0b\uff0d\uff20\t\r]/;

const formatCell = (text: string): string => {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

/** Formats rows as CSV (RFC 4180) with a byte order mark, which spreadsheets need to detect UTF-8. */
export const formatCsv = (rows: readonly (readonly string[])[]): string =>
  `\ufeff${rows.map((row) => `${row.map(formatCell).join(',')}\r\n`).join('')}`;

/** Starts the download of a text as a CSV file. */
export function downloadCsv(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  const link = Object.assign(document.createElement('a'), { href: address, download: name });
  link.click();
  setTimeout(() => {
    URL.revokeObjectURL(address);
  }, 10_000);
}
