import { describe, expect, test, beforeAll } from '@jest/globals';
import { createHash } from 'node:crypto';
import { CATALOGUE } from '../../src/platform/common/errors.js';
import { GUIDES } from '../../src/operations/health/guides.js';
import { setUpApp } from '../support/app/app.js';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';

/** `Accept` headers that browsers send for a page. */
const BROWSERS = [
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
  'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
];
const PROGRAMS = ['*/*', 'application/json', 'application/json, text/plain, */*', 'text/event-stream', ''];

const app = setUpApp();

const raw = (method: string, path: string, accept: string, headers = {}) =>
  app.guest.fetch(method, path, undefined, { accept, ...headers });

describe('the base URL', () => {
  test.each(BROWSERS)('redirects a browser with Accept %j to the console', async (accept) => {
    const { status, headers } = await raw('GET', '/', accept);
    expect([status, headers['location']]).toEqual([302, '/console']);
  });
  test.each(PROGRAMS)('returns the start page for Accept %j', async (accept) => {
    const { status, text, headers } = await raw('GET', '/', accept);
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(text).toMatch(/<h1[^>]*>Rollcall \d+\.\d+\.\d+<\/h1>/);
  });
});

describe('a guide', () => {
  const guides = Object.keys(GUIDES);
  test.each(guides)('is an HTML page without broken links: %s', async (name) => {
    const { status, text, headers } = await raw('GET', `/guides/${name}`, BROWSERS[0]!);
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(text).toMatch(/<h1 id="[^"]+">/);
    expect(text).toContain('<table>');
    expect(text).toContain('<header><a href="/">Rollcall</a>');
    expect(text).not.toMatch(/<(script|img)/);
    for (const [, link = ''] of text.matchAll(/href="([^"]+)"/g)) {
      if (/^https?:/.test(link)) continue;
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? text : (await raw('GET', path, BROWSERS[0]!)).text;
      if (anchor !== undefined) expect([link, target.includes(` id="${anchor}"`)]).toEqual([link, true]);
    }
  });

  test('with an unknown name returns 404', async () => {
    for (const name of ['nothing', 'asvs', '..%2fpackage', 'constructor', '__proto__', 'imports.md'])
      expect((await raw('GET', `/guides/${name}`, BROWSERS[0]!)).status).toBe(404);
  });
});

test.each(Object.entries(CATALOGUE))('/problems/%s explains the error', async (code, { status, title }) => {
  const page = await app.guest.fetch('GET', `/problems/${code}`);
  expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  for (const part of [code, String(status), title]) expect(page.text).toContain(part);
  expect(page.text).not.toContain('`');
});

test.each(['nothing', 'constructor', '__proto__', '', 'internal/x', '%00'])(
  'the page of an unknown error, /problems/%s, returns 404',
  async (code) => {
    const page = await app.guest.fetch('GET', `/problems/${code}`);
    expect([page.status, page.body?.code]).toEqual([404, 'not_found']);
  },
);

const wrong = [
  ['an unknown path', 'GET', '/nowhere', 404],
  ['an unknown path of the API', 'GET', '/api/0.3/nowhere', 404],
  ['missing credentials', 'GET', '/api/0.3/users/search', 401],
  ['an unsupported method', 'DELETE', '/api/0.3/status', 405],
  ['an unknown file of Swagger UI', 'GET', '/docs/nothing.js', 404],
] as const;

describe.each(wrong)('the error for %s', (_, method, path, status) => {
  test.each([...BROWSERS, ...PROGRAMS])('is JSON for Accept %j', async (accept) => {
    const answer = await raw(method, path, accept);
    expect([answer.status, answer.headers['content-type']]).toEqual([
      status,
      expect.stringMatching(/^application\/(problem\+)?json/),
    ]);
    expect(answer.headers['vary']).toMatch(/accept/i);
  });
});

test('an API key in a query string is masked in errors', async () => {
  const key = `rollcall_0123456789ab_${'Ab3'.repeat(14)}x_01234567`;
  const { status, text } = await app.key.get(`/users/search?${key}=1`);
  expect([status, text.includes(key)]).toEqual([400, false]);
});

test('a browser receives SCIM errors as application/scim+json', async () => {
  const { headers } = await raw('GET', '/scim/v2/Users', BROWSERS[0]!);
  expect(headers['content-type']).toMatch(/^application\/scim\+json/);
});

test.each(['/', '/problems/not_found'])(
  'the CSP of %s permits only the style element of the page',
  async (path) => {
    const { text, headers } = await raw('GET', path, '*/*');
    const [, style = ''] = /<style>([^]*)<\/style>/.exec(text) ?? [];
    const hash = createHash('sha256').update(style).digest('base64');
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src '[^']+'; base-uri 'none'/,
    );
    expect(headers['content-security-policy']).toContain(`'sha256-${hash}'`);
  },
);

/** `/docs` serves only the files that its page loads and the documents, not the rest of the Swagger UI package. */
const PACKAGE = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
let page: string[];

beforeAll(async () => {
  const { text } = await app.guest.fetch('GET', '/docs');
  page = [...text.matchAll(/(?:href|src)="\.\/docs\/([^"]+)"/g)].map(([, file = '']) => file);
});

const getStatus = async (path: string) => (await app.guest.fetch('GET', path)).status;

test('/docs serves every file that the Swagger UI page loads', async () => {
  expect(page).toContain('swagger-ui-bundle.js');
  expect(await getStatus('/docs/')).toBe(200);
  for (const file of [...page, 'openapi.json'])
    expect([file, await getStatus(`/docs/${file}`)]).toEqual([file, 200]);
});

test('unused files of the Swagger UI package return 404', async () => {
  const others = readdirSync(PACKAGE).filter((file) => !page.includes(file));
  expect(others).toEqual(expect.arrayContaining(['package.json', 'README.md', 'swagger-ui-bundle.js.map']));
  for (const file of others) expect([file, await getStatus(`/docs/${file}`)]).toEqual([file, 404]);
});

test.each([
  '/docs//package.json',
  '/docs/./package.json',
  '/docs/%70ackage.json',
  '/docs/package.json/',
  '/docs/swagger-ui.css/../package.json',
  '/docs/swagger-ui.css%2f..%2fpackage.json',
  '/docs/docs/package.json',
])('GET %s returns 404', async (path) => {
  const { status, headers } = await app.guest.fetch('GET', path);
  expect([status, headers['content-type']]).toEqual([404, expect.stringContaining('problem+json')]);
});
