import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Process, ROOT } from '../support/process/process.js';

/** Installs the package that `npm run pack` creates into an empty folder, as `npx` does. */
jest.setTimeout(300_000);
let folder: string;
let home: string;
let installed: string;
const run = (command: string, args: string[], cwd: string): string =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rollcall-package-'));
  const file = run(process.execPath, ['pack.mjs', folder], ROOT).trim();
  home = join(folder, 'home');
  mkdirSync(home);
  run('npm', ['install', '--no-audit', '--no-fund', '--no-save', '--silent', file], home);
  installed = join(home, 'node_modules');
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});
afterEach(() => Process.killAll());

const readPackage = (path: string): Record<string, Record<string, string>> =>
  JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as Record<string, Record<string, string>>;

test('the npm package contains only the needed files and dependencies', () => {
  const { dependencies, devDependencies, optionalDependencies, scripts, version } = readPackage(
    join(installed, 'rollcall'),
  );
  expect(Object.keys(dependencies ?? {})).toEqual([
    '@node-rs/argon2',
    '@zxcvbn-ts/language-common',
    'swagger-ui-dist',
  ]);
  expect({ devDependencies, optionalDependencies, scripts }).toEqual({
    devDependencies: undefined,
    optionalDependencies: undefined,
    scripts: undefined,
  });
  expect(version).toBe(readPackage(ROOT)['version']);
  expect(readdirSync(join(installed, 'rollcall')).sort()).toEqual([
    '.env.example',
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'dist',
    'docs',
    'package.json',
    'samples',
  ]);
  expect(readdirSync(installed).length).toBeLessThan(16);
});

test.each([[[]], [['start']]])(
  '`rollcall` with the arguments %j starts the service in an empty folder',
  async (args) => {
    const data = mkdtempSync(join(folder, 'data-'));
    const service = new Process('dist/rollcall.js', { PORT: '0' }, data, args, join(installed, 'rollcall/'));
    await service.waitUntilReady();
    expect(readdirSync(data)).toEqual(['data']);
    const answer = await fetch(`${service.url}/docs/`);
    expect([answer.status, (await answer.text()).includes('swagger-ui')]).toEqual([200, true]);
    expect((await fetch(`${service.url}/console`)).status).toBe(200);
    service.signal('SIGTERM');
    expect(await service.exit).toEqual({ code: 0, signal: null });
  },
);

test('the installed `rollcall` prints its version and lists its commands', () => {
  const bin = join(installed, '.bin', 'rollcall');
  expect(run(bin, ['--version'], home).trim()).toBe(readPackage(ROOT)['version']);
  const help = run(bin, ['--help'], home);
  for (const command of ['start', 'import', 'users', 'keys', 'doctor'])
    expect(help).toContain(`  ${command} `);
  expect(readdirSync(home)).toEqual(['node_modules']);
});
