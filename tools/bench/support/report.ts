import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import type { Results } from './results.js';
import { formatCaption, formatTables } from './table.js';

const DOCUMENT = 'tools/bench/RESULTS.md';
const BEGIN = '<!-- bench: written by `npm run bench` -->';
const END = '<!-- bench: end -->';

/** Writes the results between the markers in RESULTS.md. */
export async function writeReport(results: Results): Promise<void> {
  const [before, rest] = readFileSync(DOCUMENT, 'utf8').split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined)
    throw new Error(`${DOCUMENT} lacks the markers of the benchmark`);
  const text = `${formatCaption(results)}\n\n${formatTables(results)}`;
  const options = { ...(await resolveConfig(DOCUMENT)), filepath: DOCUMENT };
  writeFileSync(DOCUMENT, await format(`${before}${BEGIN}\n\n${text}\n${END}${after}`, options));
}
