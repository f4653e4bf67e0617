import { beforeAll, expect, test } from '@jest/globals';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { setUpApp } from '../support/app/app.js';

/** `/docs` serves only the files that its page loads and the documents, not the rest of the Swagger UI package. */
const PACKAGE = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const app = setUpApp();
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
