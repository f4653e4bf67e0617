import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { chartOf } from './chart.js';
import type { Results } from './results.js';
import { captionOf, fullTables } from './table.js';

const JSON_FILE = 'tools/bench/results.json';
const CHART_FILE = 'tools/bench/results.svg';
const DOCUMENT = 'docs/performance.md';
const BEGIN = '<!-- bench: written by `npm run bench` -->';
const END = '<!-- bench: end -->';

/** Writes the results as data, as a chart, and in the document. */
export async function writeReport(results: Results): Promise<void> {
  writeFileSync(CHART_FILE, chartOf(results.comparisons));
  await writePretty(JSON_FILE, JSON.stringify(results));
  const chart = '![The share of its floor that each case reaches](../tools/bench/results.svg)';
  await rewrite(`${chart}\n\n${captionOf(results)}\n\n${fullTables(results)}`);
}

/** Replaces the text between the markers. */
async function rewrite(text: string): Promise<void> {
  const [before, rest] = readFileSync(DOCUMENT, 'utf8').split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error(`${DOCUMENT} has no place for the bench`);
  await writePretty(DOCUMENT, `${before}${BEGIN}\n\n${text}\n${END}${after}`);
}

async function writePretty(file: string, text: string): Promise<void> {
  writeFileSync(file, await format(text, { ...(await resolveConfig(file)), filepath: file }));
}
