import { expect, test } from '@jest/globals';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { SCOPES as KEY_SCOPES } from '../../src/access/actor.js';
import { ACTIONS as AUDIT_ACTIONS } from '../../src/audit/audit-event.js';
import { COLUMNS as IMPORT_COLUMNS } from '../../src/import/file/columns.js';
import { ROOT } from '../support/process/process.js';

const FOLDER = join(ROOT, 'console');
const MADE = 'generated.d.ts';
const sources = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.(tsx?|css|html)$/.test(file) && !file.endsWith(MADE))
  .map((file) => ({ file, text: readFileSync(join(FOLDER, file), 'utf8') }));

const filesWith = (pattern: RegExp): string[] =>
  sources.filter(({ text }) => pattern.test(text)).map(({ file }) => file);

test('no source has more than 250 lines', () => {
  expect(sources.length).toBeGreaterThan(40);
  expect(sources.filter(({ text }) => text.split('\n').length > 251)).toEqual([]);
});

test('browsers store nothing for the console', () => {
  expect(filesWith(/localStorage|sessionStorage|indexedDB|document\.cookie|caches\./)).toEqual([]);
});

test('no text becomes markup or code', () => {
  expect(filesWith(/innerHTML|insertAdjacentHTML|dangerously|\beval\(|new Function\(|srcdoc/)).toEqual([]);
});

test('nothing but the interface is asked, through the one client that is typed by it', () => {
  expect(filesWith(/\bfetch\(|XMLHttpRequest|WebSocket|sendBeacon/)).toEqual(['api/client.ts']);
  expect(filesWith(/new EventSource\(/)).toEqual(['api/events.ts']);
});

/** The texts of a list in a source of the console. */
const listIn = (file: string, list: string): string[] => {
  const { text = '' } = sources.find((source) => source.file === file) ?? {};
  const [, body = ''] = new RegExp(`const ${list}\\b[^=]*= \\[([^]*?)\\n\\];`).exec(text) ?? [];
  return [...body.matchAll(/^ {2}\[?'([^']+)'/gm)].map(([, name = '']) => name);
};

test.each<[string, string, string, readonly string[]]>([
  ['columns of an import', 'lib/columns.ts', 'COLUMNS', IMPORT_COLUMNS.map(({ name }) => name)],
  ['actions of the audit', 'pages/audit/actions.ts', 'ACTIONS', AUDIT_ACTIONS],
  ['scopes of a key', 'pages/keys/keys.ts', 'SCOPES', KEY_SCOPES],
])('the %s that it offers are those of the service', (_, file, list, known) => {
  expect(listIn(file, list).sort()).toEqual([...known].sort());
});
