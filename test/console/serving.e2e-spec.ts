import { describe, expect, test } from '@jest/globals';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { TestApp, setUpApp } from '../support/app/app.js';
import { ROOT } from '../support/process/process.js';

/** The service serves the files that `npm run build` creates from `console/`. */
const BUILT = join(ROOT, 'dist/console');
const LIMIT = 88 * 1024;
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const files = readdirSync(BUILT, { recursive: true, encoding: 'utf8' }).filter((file) => /\.\w+$/.test(file));
const sources = files.filter((file) => !/\.(br|gz)$/.test(file));
const page = readFileSync(join(BUILT, 'index.html'), 'utf8');
const links = [...page.matchAll(/(?:href|src)="(\/console\/[^"]+)"/g)].map(([, link]) => link!);

const app = setUpApp();
const get = (path: string, headers: Record<string, string> = {}, { url } = app) =>
  fetch(`${url}${path}`, { headers: { accept: BROWSER, ...headers }, redirect: 'manual' });

test('the gzipped files of the console have at most 88 KiB in total', () => {
  const sizes = sources.map((file) => readFileSync(join(BUILT, `${file}.gz`)).length);
  expect(sources.length).toBeGreaterThan(3);
  expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(LIMIT);
});

test('index.html of the console has no inline style or script', () => {
  expect(page).toMatch(/<h1>Rollcall<\/h1>/);
  expect(page).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/);
  expect(new Set(links).size).toBe(3);
});

describe.each(['/console', '/console/', '/console/users?q=ada&sort=email', '/console/users/x/y'])(
  'GET %s',
  (path) => {
    test('returns the console page for any Accept header', async () => {
      for (const accept of [BROWSER, '*/*']) {
        const answer = await get(path, { accept });
        expect(answer.status).toBe(200);
        expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
        expect(await answer.text()).toBe(page);
      }
    });

    test('returns the console page with Cache-Control: no-cache', async () => {
      const { headers } = await get(path);
      expect(headers.get('cache-control')).toBe('no-cache');
      const again = await get(path, { 'if-none-match': headers.get('etag')! });
      expect([again.status, await again.text()]).toEqual([304, '']);
    });

    test('returns a CSP that permits only resources of the service', async () => {
      const { headers } = await get(path);
      expect(headers.get('content-security-policy')?.split(';').sort()).toEqual([
        "base-uri 'none'",
        "connect-src 'self'",
        "default-src 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "img-src 'self'",
        "require-trusted-types-for 'script'",
        "script-src 'self'",
        "style-src 'self'",
      ]);
    });
  },
);

describe.each(links)('the console file %s', (link) => {
  test.each(['br', 'gzip', 'identity'])('is served in %s encoding, cached for a year', async (encoding) => {
    const answer = await get(link, { 'accept-encoding': encoding });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-encoding')).toBe(encoding === 'identity' ? null : encoding);
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(answer.headers.get('vary')).toMatch(/accept-encoding/i);
    const file = readFileSync(join(BUILT, link.slice('/console/'.length)));
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(file);
  });
});

test.each(['none.js', '', '..%2f..%2fmain.js', 'app.js.br'])(
  'GET /console/assets/%s returns 404',
  async (name) => {
    expect((await get(`/console/assets/${name}`)).status).toBe(404);
  },
);

test('GET / redirects only browsers to the console', async () => {
  const browser = await get('/');
  expect([browser.status, browser.headers.get('location')]).toEqual([302, '/console']);
  expect(browser.headers.get('vary')).toMatch(/accept/i);
  const program = await get('/', { accept: '*/*' });
  expect([program.status, (await program.text()).includes('href="/console"')]).toEqual([200, true]);
});

test('GET /console returns 404 with CONSOLE_ENABLED=false', async () => {
  const other = await TestApp.start({ CONSOLE_ENABLED: 'false' });
  try {
    for (const path of ['/console', '/console/users']) expect((await get(path, {}, other)).status).toBe(404);
    const front = await get('/', {}, other);
    expect([front.status, (await front.text()).includes('href="/console"')]).toEqual([200, false]);
  } finally {
    await other.end();
  }
});
