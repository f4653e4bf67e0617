import type { Preview } from '../import/mapping/import-preview.js';
import { table } from './table.js';

const MAX_PROBLEMS = 50;
const MAX_ROWS = 5;
const MAX_CELL = 40;

/** A preview as text for an operator: what each column is, the first rows, and every problem. */
export function previewText(preview: Preview): string {
  const { encoding, delimiter, columns, rows, problems } = preview;
  const parts = [
    `\nEncoding ${encoding ?? '?'}, delimiter ${delimiter === '\t' ? 'tab' : (delimiter ?? '?')}\n`,
  ];
  if (preview.guard_limits) parts.push(`Limits of the profile: ${limitsText(preview.guard_limits)}\n`);
  const meaning = columns.map(({ source, column, use, suggestion }) => [
    short(source),
    column ?? (use === 'unknown' ? 'not known' : use),
    suggestion === null ? '' : `probably ${suggestion}`,
  ]);
  if (meaning.length > 0) parts.push(table([['Column of the file', 'Is', ''], ...meaning]));
  for (const { line, outcome, fields } of rows.slice(0, MAX_ROWS)) {
    const shown = Object.entries(fields).map(([name, value]) => `${name}=${short(JSON.stringify(value))}`);
    parts.push(`Line ${line} (${outcome}): ${shown.join(' ')}\n`);
  }
  if (rows.length > MAX_ROWS) parts.push(`… and ${rows.length - MAX_ROWS} rows more\n`);
  const faults = problems
    .slice(0, MAX_PROBLEMS)
    .map(({ line, field, code, message }) => [line ?? '', field, code, message]);
  if (faults.length > 0)
    parts.push('Problems:\n', table([['Line', 'Field', 'Code', 'What is wrong'], ...faults]));
  if (problems.length > MAX_PROBLEMS) parts.push(`… and ${problems.length - MAX_PROBLEMS} problems more\n`);
  if (problems.length === 0) parts.push('No problem was found.\n');
  return parts.join('\n');
}

/** As `deactivations rows 20, percent 30; errors rows 50`. */
function limitsText(limits: NonNullable<Preview['guard_limits']>): string {
  return Object.entries(limits)
    .map(([name, own]) => {
      const numbers = Object.entries<number>(own).map(([limit, value]) => `${limit} ${value}`);
      return `${name} ${numbers.join(', ')}`;
    })
    .join('; ');
}

/** A terminal would act on control characters. */
function short(text: string): string {
  const clean = text.replace(/\p{Cc}/gu, '\ufffd');
  return clean.length > MAX_CELL ? `${clean.slice(0, MAX_CELL - 1)}…` : clean;
}
