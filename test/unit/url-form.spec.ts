import { expect, test } from '@jest/globals';
import { isHttpUrl, normalizeUrl } from '../../src/users/model/formats.js';

test.each([
  ['http://example.org', 'http://example.org/'],
  ['HTTPS://Example.ORG:443/A?b#c', 'https://example.org/A?b#c'],
  ['http://intranet/a/../b c.png', 'http://intranet/b%20c.png'],
  ['http://bücher.example/ü', 'http://xn--bcher-kva.example/%C3%BC'],
  ['http://0x7f.1/', 'http://127.0.0.1/'],
  ['http://example.org:/', 'http://example.org/'],
  ['http://example.org:65535/', 'http://example.org:65535/'],
  ['http://ｅxample。org/', 'http://example.org/'],
  ['http://[::ffff:192.0.2.1]/', 'http://[::ffff:c000:201]/'],
  ['http://example.org/@jane', 'http://example.org/@jane'],
  ['http://example.org?to=a@b', 'http://example.org/?to=a@b'],
  ['http://example.org#@', 'http://example.org/#@'],
])('the URL %s is stored as %s', (text, stored) => {
  expect(normalizeUrl(text)).toBe(stored);
  expect(isHttpUrl(stored)).toBe(true);
  expect(normalizeUrl(stored)).toBe(stored);
});

test.each([
  'http:///a.png',
  'http:example.org',
  'http://?x',
  'http://jane:secret@example.org/',
  'http://@example.org/',
  'https://good.example\\@evil.example/',
  'https://example.org/\\x',
  'https://exa mple.org/',
  'http://example..org/',
  'http://example.org:0/',
  'http://example.org:65536/',
  'http://example.org./',
  'http://*.example.org/',
  'http://a%00b/',
  'http://xn--a/',
  'http://[fe80::1%25eth0]/',
  `http://${'a'.repeat(64)}.org/`,
  'javascript:alert(1)//http://example.org',
  '//example.org/a',
])('the URL %s is refused', (text) => {
  expect(isHttpUrl(normalizeUrl(text))).toBe(false);
});

test.each(['http://exa\tmple.org/', 'http://example.org/\u0000', 'http://a\u00addmin.example/'])(
  'the URL %j with forbidden characters is left unchanged',
  (text) => {
    expect(normalizeUrl(text)).toBe(text);
  },
);
