import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { findConstructions } from './constructions.mjs';

/** Checks the wording of the Markdown documents and of every text in the OpenAPI file. */

/** Accepted sentences, each with a reason. An exception that no text needs counts as a fault. */
const EXCEPTIONS = [];

const TEXTS = new Set(['description', 'summary', 'title']);

/** Yields the texts of an OpenAPI document with their path. */
function* listTexts(node, path = 'docs/openapi.json') {
  for (const [key, value] of Object.entries(node)) {
    if (typeof value === 'string') {
      if (TEXTS.has(key)) yield [`${path}/${key}`, value];
    } else if (value !== null && typeof value === 'object') yield* listTexts(value, `${path}/${key}`);
  }
}

/**
 * Yields the paragraphs, list items, headings and table rows of a document with their line. Code blocks are omitted.
 */
function* listParagraphs(file) {
  const text = readFileSync(file, 'utf8').replace(/^( *)```[^]*?^\1```$/gm, (block) =>
    block.replace(/[^\n]/g, ''),
  );
  let start = 0;
  let paragraph = '';
  for (const [index, line] of [...text.split('\n'), ''].entries()) {
    const isStart = line.trim() === '' || /^\s*([-*|#>]|\d+\.)/.test(line);
    if (isStart && paragraph !== '') {
      yield [`${file}:${start}`, paragraph];
      paragraph = '';
    }
    if (line.trim() === '') continue;
    if (paragraph === '') start = index + 1;
    paragraph += ` ${line.trim()}`;
  }
}

const files = execFileSync('git', ['ls-files', '*.md'], { encoding: 'utf8' }).trim().split('\n');
const texts = [
  ...files.flatMap((file) => [...listParagraphs(file)]),
  ...listTexts(JSON.parse(readFileSync('docs/openapi.json', 'utf8'))),
];
const needed = new Set();
let count = 0;
for (const [where, text] of texts) {
  for (const fault of findConstructions(text)) {
    const exception = EXCEPTIONS.find((candidate) => text.includes(candidate.text));
    if (exception) needed.add(exception);
    else {
      count += 1;
      console.log(`${where}: ${fault}`);
    }
  }
}
for (const { text } of EXCEPTIONS.filter((exception) => !needed.has(exception))) {
  count += 1;
  console.log(`"${text}": the exception is no longer needed`);
}
console.log(`${files.length} documents and docs/openapi.json: ${count} faults in the wording`);
process.exitCode = count > 0 ? 1 : 0;
