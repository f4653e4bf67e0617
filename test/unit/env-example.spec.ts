import { expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import ts from 'typescript';
import { loadEnv } from '../../src/platform/config/env.js';
import { SETTINGS, type Setting } from '../../src/platform/config/setting-table.js';
import { renderTable } from '../support/data/table.js';

/** `npm run settings` updates the documents after a change of a setting. */
const file = (path: string): URL => new URL(`../../${path}`, import.meta.url);
type AnySetting = Setting<string | number | boolean | readonly string[] | undefined>;
const settings: [string, AnySetting][] = Object.entries(SETTINGS);
const defaultOf = ({ defaultValue: fallback }: AnySetting): string =>
  fallback === undefined ? '' : String(fallback);

/** Reads the comment of each setting. */
function readTexts(): Map<string, string> {
  const path = 'src/platform/config/setting-table.ts';
  const source = ts.createSourceFile(path, readFileSync(file(path), 'utf8'), ts.ScriptTarget.ES2023, true);
  const texts = new Map<string, string>();
  const visit = (node: ts.Node): void => {
    const [doc] = ts.getJSDocCommentsAndTags(node);
    if (ts.isPropertyAssignment(node) && doc)
      texts.set(node.name.getText(), String(doc.comment).replace(/\s+/g, ' '));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return texts;
}
const texts = readTexts();

function textOf([name, { range, isSecret }]: (typeof settings)[number]): string {
  const parts = [texts.get(name) ?? ''];
  if (range !== undefined) parts.push(`Valid: ${range}.`);
  if (isSecret) parts.push(`\`${name}_FILE\` may name a file that holds it.`);
  return parts.join(' ');
}

function renderExample(): string {
  const heading =
    'Settings of Rollcall: copy this file to .env and change what you need. Lines that are commented out are unset.';
  const parts = settings.map(([name, setting]) => {
    const lines =
      textOf([name, setting])
        .replaceAll('`', '')
        .match(/\S.{0,115}(?=\s|$)/g) ?? [];
    const unset = setting.defaultValue === undefined;
    return [...lines.map((line) => `# ${line}`), `${unset ? '# ' : ''}${name}=${defaultOf(setting)}`];
  });
  return [[`# ${heading}`], ...parts].map((lines) => `${lines.join('\n')}\n`).join('\n');
}

/** Returns the guide with an updated table of settings. The table keeps its selection of settings. */
function renderGuide(guide: string): string {
  return guide.replace(/(?<=\n\n)\| Variable .*\n(\|.*\n)+/, (table) => {
    const chosen = new Set([...table.matchAll(/^\| `([A-Z_]+)`/gm)].map(([, name]) => name));
    const code = (text: string) => (text === '' ? '' : `\`${text}\``);
    const cells = settings
      .filter(([name]) => chosen.has(name))
      .map((each) => [code(each[0]), code(defaultOf(each[1])), textOf(each)]);
    return renderTable([['Variable', 'Default', 'Meaning'], ...cells]);
  });
}

test.each<[string, (before: string) => string]>([
  ['.env.example', renderExample],
  ['docs/deployment.md', renderGuide],
])('%s lists the settings as setting-table.ts defines them', (path, write) => {
  const before = readFileSync(file(path), 'utf8');
  if (process.env['UPDATE_SETTINGS'] === 'true') writeFileSync(file(path), write(before));
  expect(readFileSync(file(path), 'utf8')).toBe(write(before));
});

test('every setting has a comment that ends with a full stop', () => {
  for (const [name] of settings)
    expect([name, texts.get(name)]).toEqual([name, expect.stringMatching(/.{10,}\.$/)]);
});

test('an unchanged copy of .env.example results in the default settings', () => {
  const variables = parseEnv(readFileSync(file('.env.example'), 'utf8'));
  expect(Object.keys(variables)).not.toHaveLength(0);
  expect(loadEnv(variables)).toEqual(loadEnv({}));
});
