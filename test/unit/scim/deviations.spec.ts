import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../support/process/process.js';

test('docs/scim.md lists every deviation that a key profile accepts', () => {
  const guide = readFileSync(join(ROOT, 'docs/scim.md'), 'utf8');
  const source = readFileSync(join(ROOT, 'src/scim/protocol/input.ts'), 'utf8');
  const kinds = [...source.matchAll(/^ {2}\| '(\w+)'/gm)].map(([, kind]) => kind);
  const shown = [...guide.matchAll(/^\| `(\w+)` +\|/gm)].map(([, kind]) => kind);
  expect(kinds.length).toBeGreaterThan(5);
  expect(shown).toEqual(expect.arrayContaining(kinds));
});
