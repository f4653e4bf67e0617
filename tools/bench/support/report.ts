import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { chartOf } from './chart.js';
import type { ResultsFile } from './results.js';
import { captionOf, fullTables } from './table.js';

const JSON_FILE = 'tools/bench/results.json';
const CHART_FILE = 'tools/bench/results.svg';
const DOCUMENT = 'docs/performance.md';
const BEGIN = '<!-- bench: written by `npm run bench` -->';
const END = '<!-- bench: end -->';

/** Adds the results to those of other runs: as data, as a chart, and in the document. */
export async function writeReport(measured: ResultsFile): Promise<void> {
  const known = existsSync(JSON_FILE) ? (JSON.parse(readFileSync(JSON_FILE, 'utf8')) as ResultsFile) : {};
  const all: ResultsFile = { ...known, ...measured };
  const parts = [all.bench, all.scale].filter((part) => part !== undefined);
  writeFileSync(CHART_FILE, chartOf(parts.flatMap(({ comparisons }) => comparisons)));
  await writePretty(JSON_FILE, JSON.stringify(all));
  const chart = '![The share of its floor that each case reaches](../tools/bench/results.svg)';
  const tables = parts.map((part) => `${captionOf(part)}\n\n${fullTables(part)}`);
  await rewrite(`${chart}\n\n${tables.join('\n')}`);
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
