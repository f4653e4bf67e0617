import { expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { createDocument } from '../../src/openapi.js';
import { setUpApp } from '../support/app/app.js';

const FILE = new URL('../../docs/openapi.json', import.meta.url);
const app = setUpApp();

test('the committed OpenAPI file describes the routes', () => {
  const created = `${JSON.stringify(createDocument(app.app), null, 2)}\n`;
  // After an intended change, `npm run openapi` writes the file.
  if (process.env['UPDATE_OPENAPI'] === 'true') writeFileSync(FILE, created);
  expect(created).toBe(readFileSync(FILE, 'utf8'));
});
