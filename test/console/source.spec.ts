import { expect, test } from '@jest/globals';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/process.js';

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
