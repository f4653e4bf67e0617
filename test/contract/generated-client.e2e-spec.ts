import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { API_KEY, TestApp } from '../support/app.js';

/** What a client generator makes of the OpenAPI file: types that compile, and calls that work. */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
const tool = (path: string, ...given: string[]) => run(process.execPath, [join(ROOT, path), ...given]);

let app: TestApp;
let folder: string;
beforeAll(async () => {
  app = await TestApp.start();
  folder = await mkdtemp(join(tmpdir(), 'rollcall-client-'));
  await cp(join(ROOT, 'test/contract/generated-client'), folder, { recursive: true });
  await cp(join(ROOT, 'package.json'), join(folder, 'package.json')); // it is an ES module there, too
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
});
afterAll(async () => {
  await app.end();
  await rm(folder, { recursive: true });
});

jest.setTimeout(120_000);

test('a program on the generated types compiles strictly and does what it says', async () => {
  const generated = join(folder, 'api.ts');
  await tool('node_modules/openapi-typescript/bin/cli.js', 'docs/openapi.json', '--output', generated);
  const compiled = await tool('node_modules/typescript/bin/tsc', '-p', folder).catch(
    (error: unknown) => error,
  );
  expect(compiled).toMatchObject({ stdout: '' });
  const env = { ...process.env, API_URL: app.url, API_KEY, NODE_OPTIONS: '' };
  const { stdout } = await run(process.execPath, [join(folder, 'program.js')], { env });
  expect(JSON.parse(stdout)).toEqual({
    authname: { saml: ['generated@idp'] },
    phone: '+44 20 7946 0958',
    found: [1, true],
    refused: [422, 'validation_failed', [['email', 'invalid_format']]],
  });
});
