import { expect, test } from '@jest/globals';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { SCOPES as KEY_SCOPES } from '../../src/access/actor.js';
import { ACTIONS as AUDIT_ACTIONS } from '../../src/audit/audit-event.js';
import { COLUMNS as IMPORT_COLUMNS } from '../../src/import/file/columns.js';
import { GUARDS } from '../../src/import/guards/guard-table.js';
import { FUNCTIONS } from '../../src/import/mapping/template-functions.js';
import { ROOT } from '../support/process/process.js';

const FOLDER = join(ROOT, 'console');
const GENERATED = 'generated.d.ts';
const sources = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.(tsx?|css|html)$/.test(file) && !file.endsWith(GENERATED))
  .map((file) => ({ file, text: readFileSync(join(FOLDER, file), 'utf8') }));

const findFiles = (pattern: RegExp): string[] =>
  sources.filter(({ text }) => pattern.test(text)).map(({ file }) => file);

test('no source file of the console has more than 250 lines', () => {
  expect(sources.length).toBeGreaterThan(40);
  expect(sources.filter(({ text }) => text.split('\n').length > 251)).toEqual([]);
});

test('the code of the console stores nothing in the browser', () => {
  expect(findFiles(/localStorage|sessionStorage|indexedDB|document\.cookie|caches\./)).toEqual([]);
});

test('the code of the console never converts text to markup or code', () => {
  expect(findFiles(/innerHTML|insertAdjacentHTML|dangerously|\beval\(|new Function\(|srcdoc/)).toEqual([]);
});

test('only api/client.ts and api/events.ts of the console send requests', () => {
  expect(findFiles(/\bfetch\(|XMLHttpRequest|WebSocket|sendBeacon/)).toEqual(['api/client.ts']);
  expect(findFiles(/new EventSource\(/)).toEqual(['api/events.ts']);
});

/** Reads a list or an object of a source file of the console. */
const readSource = (file: string, list: string): string => {
  const { text = '' } = sources.find((source) => source.file === file) ?? {};
  const [, body = ''] = new RegExp(`const ${list}\\b[^=]*= [[{]([^]*?)\\n[\\]}];`).exec(text) ?? [];
  return body;
};

/** Reads the names in a list of a source file of the console. */
const readList = (file: string, list: string): string[] =>
  [...readSource(file, list).matchAll(/^ {2}\[?'?([\w.:]+)'?[,:]/gm)].map(([, name = '']) => name);

test.each<[string, string, string, readonly string[]]>([
  ['import columns', 'lib/columns.ts', 'COLUMNS', IMPORT_COLUMNS.map(({ name }) => name)],
  ['template functions', 'pages/profiles/template.ts', 'FUNCTIONS', [...FUNCTIONS.keys()]],
  ['audit actions', 'pages/audit/actions.ts', 'ACTIONS', AUDIT_ACTIONS],
  ['API key scopes', 'pages/keys/keys.ts', 'SCOPES', KEY_SCOPES],
])('the console offers exactly the %s of the service', (_, file, list, known) => {
  expect(readList(file, list).sort()).toEqual([...known].sort());
});

test('the console shows exactly the default limits of the guards', () => {
  const shown = [
    ...readSource('pages/profiles/guard-fields.tsx', 'GUARDS').matchAll(/\['(\w+)', \{ (.+) \}\]/g),
  ];
  const toTexts = ([guard, limits = '']: readonly string[]) =>
    limits.split(', ').map((text) => `${guard ?? ''} ${text}`);
  const known = GUARDS.flatMap(({ name, limits }) =>
    Object.entries(limits).map(([limit, value]) => `${name} ${limit}: ${value}`),
  );
  expect(shown.flatMap(([, ...parts]) => toTexts(parts)).sort()).toEqual(known.sort());
});
