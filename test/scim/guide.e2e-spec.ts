import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestApp } from '../support/app.js';
import { ROOT } from '../support/process.js';

/** The walks of docs/scim.md: each block is run in a shell with a key of its profile, and a request that fails ends it. */
const GUIDE = readFileSync(join(ROOT, 'docs/scim.md'), 'utf8');
const WALK = /^### As (\w+)\n[^]*?^```sh\n([^]*?)^```$/gm;
const walks = [...GUIDE.matchAll(WALK)].map(([, provider = '', script = '']): [string, string] => [
  provider.toLowerCase(),
  script,
]);

let app: TestApp;
jest.setTimeout(120_000);
beforeAll(async () => void (app = await TestApp.start()));
afterAll(() => app.end());

test('there is a walk for each provider', () => {
  expect(walks.map(([provider]) => provider)).toEqual(['entra', 'okta', 'midpoint']);
});

test.each(walks)('the walk as %s', async (profile, script) => {
  const scopes = ['users:read', 'users:write', 'groups:read', 'groups:write'];
  const { body } = await app.key.post('/api_keys', { name: profile, profile, scopes });
  const child = spawn('bash', ['-e', '-o', 'pipefail', '-c', script], {
    env: { PATH: process.env['PATH'], KEY: body.key as string, URL: app.url },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (out += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  expect([code, out]).toEqual([0, expect.stringContaining('"active":false')]);
});

test('the guide has every kind of deviation', () => {
  const kinds = readFileSync(join(ROOT, 'src/scim/protocol/deviation.ts'), 'utf8').matchAll(
    /^ {2}\| '(\w+)'/gm,
  );
  const shown = [...GUIDE.matchAll(/^\| `(\w+)` +\|/gm)].map(([, kind]) => kind);
  for (const [, kind] of kinds) expect(shown).toContain(kind);
});
