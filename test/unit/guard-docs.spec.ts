import { expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { GUARDS } from '../../src/import/guards/guard-table.js';

/** `npm run settings` updates the table of guards in the guide. */
const path = new URL('../../docs/imports.md', import.meta.url);

function renderGuide(guide: string): string {
  const rows = GUARDS.map(({ name, counts, among, limits, isSummed }) => {
    const numbers = Object.entries(limits).map(([limit, value]) => `\`${limit}\` ${value}`);
    return [`\`${name}\``, counts, among, numbers.join(', '), isSummed ? 'yes' : ''];
  });
  const head = ['Guard', 'Counts', 'Percentages are shares of', 'Limits', '30 days'];
  const cells = [head, head.map(() => ''), ...rows];
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0), 3));
  const lines = cells.map((row, index) =>
    row.map((cell, column) => cell.padEnd(widths[column] ?? 0, index === 1 ? '-' : ' ')).join(' | '),
  );
  return guide.replace(/(?<=\n\n)\| Guard .*\n(\|.*\n)+/, lines.map((line) => `| ${line} |\n`).join(''));
}

test('docs/imports.md shows the limits of all guards', () => {
  const guide = readFileSync(path, 'utf8');
  const rendered = renderGuide(guide);
  if (process.env['UPDATE_SETTINGS'] === 'true') writeFileSync(path, rendered);
  expect(process.env['UPDATE_SETTINGS'] === 'true' ? rendered : guide).toBe(rendered);
});
