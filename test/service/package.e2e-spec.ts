import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { CATALOGUE } from '../../src/platform/common/errors.js';
import { Process, ROOT } from '../support/process/process.js';

/** Installs the package that `npm run pack` creates into an empty folder, as `npx` does. */
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
    'CONTRIBUTING.md',
    'LICENSE',
    'README.md',
    'SECURITY.md',
    'deploy',
    'dist',
    'docs',
    'package.json',
    'samples',
    'tools',
  ]);
  expect(readdirSync(installed).length).toBeLessThan(16);
});

test('the npm package contains every file to which its documents link', () => {
  const files = readdirSync(join(installed, 'rollcall'), { recursive: true, encoding: 'utf8' });
  const broken = files
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) => {
      const text = readFileSync(join(installed, 'rollcall', file), 'utf8');
      const links = [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, link = '']) => link);
      return links.map((link) => [file, normalize(join(dirname(file), link)).replace(/\/$/, '')] as const);
    })
    .filter(([, target]) => !files.includes(target));
  expect(broken).toEqual([]);
});

/** A user who owns no file of the package. Only root can start a process of another user. */
const NOBODY = process.getuid?.() === 0 ? 65534 : undefined;

test(`a service whose user ${NOBODY === undefined ? 'owns (needs root for another user)' : 'cannot change'} the package serves every linked page`, async () => {
  const data = mkdtempSync(join(folder, 'data-'));
  if (NOBODY !== undefined) chownSync(data, NOBODY, NOBODY);
  chmodSync(folder, 0o755);
  const settings = { PORT: '0', DATA_DIR: data };
  const node = join(folder, 'node'); // only root may be able to read the folder of `process.execPath`
  copyFileSync(process.execPath, node);
  const other = NOBODY === undefined ? undefined : { id: NOBODY, node };
  const service = new Process('dist/main.js', settings, home, [], join(installed, 'rollcall/'), other);
  await service.waitUntilReady();
  const paths = new Set(['/', '/docs', '/console', '/guides']);
  for (const code of Object.keys(CATALOGUE)) paths.add(`/problems/${code}`);
  const failed: unknown[] = [];
  for (const path of paths) {
    const answer = await fetch(service.url + path, { headers: { accept: 'text/html' } });
    const text = await answer.text();
    if (!answer.ok) failed.push([path, answer.status, text]);
    if (!/^text\/(html|css)/.test(answer.headers.get('content-type') ?? '')) continue;
    for (const [, attribute, inStyle] of text.matchAll(/(?:href|src)="([^"]+)"|url\(["']?([^"')]+)/g)) {
      const { origin, pathname } = new URL(attribute ?? inStyle ?? '', answer.url);
      if (origin === service.url) paths.add(pathname);
    }
  }
  expect(failed).toEqual([]);
  expect(paths.size).toBeGreaterThan(Object.keys(CATALOGUE).length + 20);
});

test.each([[[]], [['start']]])(
  '`rollcall` with the arguments %j starts the service in an empty folder',
  async (args) => {
    const data = mkdtempSync(join(folder, 'data-'));
    const service = new Process('dist/rollcall.js', { PORT: '0' }, data, args, join(installed, 'rollcall/'));
    await service.waitUntilReady();
    expect(readdirSync(data)).toEqual(['data']);
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

/** Reads a built program. A process keeps its whole program in memory, so programs must not contain unused code. */
const readProgram = (name: string): string => readFileSync(join(ROOT, `dist/${name}.js`), 'utf8');
const schemaTools = 'MigrationExecutor'; // name of a class in the migration tools of TypeORM

test.each(['main', 'import-worker', 'read-worker'])('%s.js contains no migration tool of TypeORM', (name) => {
  expect(readProgram(name)).not.toContain(schemaTools);
});

test.each(['cli', 'migrator'])('%s.js contains the migration tools of TypeORM', (name) => {
  expect(readProgram(name)).toContain(schemaTools);
});
