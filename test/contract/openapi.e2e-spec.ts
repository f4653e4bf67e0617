import { expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { setUpApp } from '../support/app/app.js';

const FILE = new URL('../../docs/openapi.json', import.meta.url);
const app = setUpApp();

test('/docs/openapi.json equals the committed OpenAPI file', async () => {
  const { body } = await app.guest.fetch('GET', '/docs/openapi.json');
  const served = `${JSON.stringify(body, null, 2)}\n`;
  // After an intended change, `npm run openapi` writes the file.
  if (process.env['UPDATE_OPENAPI'] === 'true') writeFileSync(FILE, served);
  expect(served).toBe(readFileSync(FILE, 'utf8'));
});
