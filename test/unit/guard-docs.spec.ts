import { expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { GUARDS } from '../../src/import/guards/guard-table.js';
import { renderTable } from '../support/data/table.js';

/** `npm run settings` updates the table of guards in the guide. */
const path = new URL('../../docs/imports.md', import.meta.url);

function renderGuide(guide: string): string {
  const rows = GUARDS.map(({ name, counts, population, limits, isSummed }) => {
    const numbers = Object.entries(limits).map(([limit, value]) => `\`${limit}\` ${value}`);
    return [`\`${name}\``, counts, population.text, numbers.join(', '), isSummed ? 'yes' : ''];
  });
  const head = ['Guard', 'Counts', 'Percentages are shares of', 'Limits', '30 days'];
  return guide.replace(/(?<=\n\n)\| Guard .*\n(\|.*\n)+/, renderTable([head, ...rows]));
}

test('docs/imports.md shows the limits of all guards', () => {
  const guide = readFileSync(path, 'utf8');
  const rendered = renderGuide(guide);
  if (process.env['UPDATE_SETTINGS'] === 'true') writeFileSync(path, rendered);
  expect(process.env['UPDATE_SETTINGS'] === 'true' ? rendered : guide).toBe(rendered);
});
