import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { build } from 'esbuild';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { API_KEY, TestApp } from '../support/app/app.js';
import { csv } from '../support/app/imports.js';

/**
 * What generators of clients make of the OpenAPI file: types that compile strictly, and calls that do the main job, with
 * nothing changed by hand. One generator is installed with the service, two are where `GENERATORS` says
 * (`.ci/generators`, `npm ci`).
 */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const GENERATORS = process.env['GENERATORS'];
const SPEC = join(ROOT, 'docs/openapi.json');
const run = promisify(execFile);
const tool = (path: string, ...given: string[]) => run(process.execPath, [path, ...given], { env: ENV });
const ENV = { PATH: process.env['PATH'], NODE_OPTIONS: '' };

interface Generator {
  /** Below `node_modules`, and what it is called with. */
  program: string;
  given: string[];
}
const OWN: Record<string, Generator> = {
  'openapi-fetch': { program: 'openapi-typescript/bin/cli.js', given: [SPEC, '--output', 'api.ts'] },
};
const OTHERS: Record<string, Generator> = {
  'hey-api': { program: '@hey-api/openapi-ts/bin/run.js', given: ['-i', SPEC, '--no-log-file', '-o', 'api'] },
  codegen: {
    program: 'openapi-typescript-codegen/bin/index.js',
    given: ['--input', SPEC, '--client', 'fetch', '--useOptions', '--output', 'api'],
  },
};

let app: TestApp;
let folder: string;
beforeAll(async () => {
  app = await TestApp.start();
  folder = await mkdtemp(join(tmpdir(), 'rollcall-client-'));
  await cp(join(ROOT, 'test/contract/generated-client'), folder, { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
});
afterAll(async () => {
  await app.end();
  await rm(folder, { recursive: true });
});

jest.setTimeout(120_000);

async function doesTheMainJob(name: string, modules: string, { program, given }: Generator): Promise<void> {
  const own = join(folder, name);
  const placed = given.map((word, at) => (at === given.length - 1 ? join(own, word) : word));
  await tool(join(modules, program), ...placed);
  await cp(join(folder, 'tsconfig.json'), join(own, 'tsconfig.json'));
  const compiled = await tool(join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', own).catch(
    (error: unknown) => error,
  );
  expect(compiled).toMatchObject({ stdout: '' });
  const outfile = join(own, 'program.mjs');
  await build({
    entryPoints: [join(own, 'program.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
  });
  const file = csv(
    'ExternalId,Username,Email',
    `${name}-1,${name}-1,${name}-1@example.org`,
    `${name}-2,${name}-2,bad`,
  );
  const env = { ...ENV, API_URL: app.url, API_KEY, NAME: name, FILE: file };
  const { stdout } = await run(process.execPath, [outfile], { env });
  expect(JSON.parse(stdout)).toEqual({
    phone: '+44 20 7946 0958',
    stale: [412, 'precondition_failed'],
    pages: true,
    refused: [422, 'validation_failed', ['email']],
    states: ['planned', 'completed_with_errors'],
    rows: [['email']],
    failed: 2,
  });
}

test.each(Object.entries(OWN))('a program on %s', (name, generator) =>
  doesTheMainJob(name, join(ROOT, 'node_modules'), generator),
);

if (!GENERATORS) process.stderr.write('Two generators of clients are not tested: GENERATORS is not set.\n');
const suite = GENERATORS ? describe : describe.skip;
suite(`other generators${GENERATORS ? '' : ': skipped, GENERATORS is not set (.ci/generators)'}`, () => {
  test.each(Object.entries(OTHERS))('a program on %s', (name, generator) =>
    doesTheMainJob(name, join(GENERATORS ?? '', 'node_modules'), generator),
  );
});
