import { expect, test } from '@jest/globals';
import { isHttpUrl, parsedUrl } from '../../src/users/model/formats.js';

test.each([
  ['http://example.org', 'http://example.org/'],
  ['HTTPS://Example.ORG:443/A?b#c', 'https://example.org/A?b#c'],
  ['http://intranet/a/../b c.png', 'http://intranet/b%20c.png'],
  ['http://bücher.example/ü', 'http://xn--bcher-kva.example/%C3%BC'],
  ['http://[::1]:8080/x', 'http://[::1]:8080/x'],
  ['http://0x7f.1/', 'http://127.0.0.1/'],
])('%s is stored as %s', (text, stored) => {
  expect(parsedUrl(text)).toBe(stored);
  expect(isHttpUrl(stored)).toBe(true);
  expect(parsedUrl(stored)).toBe(stored);
});

test.each([
  'http://',
  'http:///a.png',
  'http:example.org',
  'https:/example.org',
  'http://?x',
  'http://#x',
  'http://:80/',
  'http://jane@example.org/',
  'http://jane:secret@example.org/',
  'http://@example.org/',
  'https://good.example\\@evil.example/',
  'http:\\\\example.org\\',
  'https://example.org/\\x',
  'https://exa mple.org/',
  'http://example.org:99999/',
  'http://example..org/',
  'ftp://example.org/',
  'javascript:alert(1)//http://example.org',
  '//example.org/a',
])('%s is refused', (text) => {
  expect(isHttpUrl(parsedUrl(text))).toBe(false);
});

test.each([
  'http://exa\tmple.org/',
  'ht\ntp://example.org/',
  'http://example.org/\u0000',
  'http://example.org/\u200b',
  'http://a\u00addmin.example/',
])('%j is left as it is, for the rules of text to refuse', (text) => {
  expect(parsedUrl(text)).toBe(text);
});
