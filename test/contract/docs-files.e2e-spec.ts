import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { TestApp } from '../support/app/app.js';

/** Below `/docs` are the files that the page loads, and the documents: nothing else of the package of Swagger UI. */
const PACKAGE = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
let app: TestApp;
let page: string[];

beforeAll(async () => {
  app = await TestApp.start();
  const { text } = await app.nobody.raw('GET', '/docs');
  page = [...text.matchAll(/(?:href|src)="\.\/docs\/([^"]+)"/g)].map(([, file = '']) => file);
});
afterAll(() => app.end());

const statusOf = async (path: string) => (await app.nobody.raw('GET', path)).status;

test('what the page loads is there, with and without a slash behind its address', async () => {
  expect(page).toContain('swagger-ui-bundle.js');
  expect(await statusOf('/docs/')).toBe(200);
  for (const file of [...page, 'openapi.json', 'openapi.yaml'])
    expect([file, await statusOf(`/docs/${file}`)]).toEqual([file, 200]);
});

test('no other file of the package is', async () => {
  const others = readdirSync(PACKAGE).filter((file) => !page.includes(file));
  expect(others).toEqual(expect.arrayContaining(['package.json', 'README.md', 'swagger-ui-bundle.js.map']));
  for (const file of others) expect([file, await statusOf(`/docs/${file}`)]).toEqual([file, 404]);
});

test.each([
  '/DOCS/package.json',
  '/docs//package.json',
  '/docs/./package.json',
  '/docs/%70ackage.json',
  '/docs/package.json/',
  '/docs/swagger-ui.css/../package.json',
  '/docs/swagger-ui.css%2f..%2fpackage.json',
  '/docs/docs/package.json',
])('nor is it as %s', async (path) => {
  const { status, headers } = await app.nobody.raw('GET', path);
  expect([status, headers['content-type']]).toEqual([404, expect.stringContaining('problem+json')]);
});
