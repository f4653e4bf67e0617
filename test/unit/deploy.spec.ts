import { describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { loadEnv } from '../../src/platform/config/env.js';
import { setUpFolder } from '../support/data/folder.js';

/** Tests the container file, the compose files, the systemd unit and the CI steps that check packages. */
const ROOT = new URL('../../', import.meta.url).pathname;
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const folder = setUpFolder();
const runScript = (args: readonly string[], env = process.env) =>
  spawnSync(process.execPath, args, { cwd: ROOT, env, encoding: 'utf8' });

test.each([
  ['package.json', []], // any version of Node.js must be able to start the launcher
  ['docs/deployment.md', ['--disable-sigusr1']],
  ['deploy/Dockerfile', ['--disable-sigusr1']],
  ['deploy/compose.yaml', ['--disable-sigusr1']],
  ['deploy/rollcall.service', ['--disable-sigusr1']],
])('%s passes the required flags of Node.js in every start command', (file, flags) => {
  const starts = read(file).match(/^.*\bnode\b.*dist\/main\.js.*$/gm) ?? [];
  expect(starts).not.toEqual([]);
  for (const flag of ['--max-semi-space-size=4', ...flags])
    expect(starts.filter((line) => !line.includes(flag))).toEqual([]);
});

describe('the container image', () => {
  const buildContext = (dockerfile: string) =>
    runScript(['.ci/container-context.mjs', join(folder, 'context'), dockerfile]);

  test('contains all needed files and no ignored files', () => {
    expect(buildContext('deploy/Dockerfile').stderr).toBe('');
    const files = readdirSync(join(folder, 'context'));
    const { scripts } = JSON.parse(read('package.json')) as { scripts: { build: string } };
    expect(files).toEqual(expect.arrayContaining(scripts.build.match(/\S+\.mjs/g) ?? ['?']));
    expect(files).toEqual(
      expect.arrayContaining(['nest-cli.json', 'package-lock.json', 'src', 'tsconfig.build.json']),
    );
    expect(files.filter((file) => /^\.|data|node_modules|test/.test(file))).toEqual([]);
  });

  test.each([
    ['*\n!package.json\n!src\n', 0, ''],
    ['*\n!package.json\n', 1, 'src'],
    ['src/cli\n!src\n', 0, ''],
    ['**/*.json\n', 1, 'package.json'],
    ['src\n# !src\n', 1, 'src'],
  ])('check with the ignore file %j exits with code %d', (ignore, code, missing) => {
    const dockerfile = join(folder, 'Dockerfile');
    writeFileSync(
      dockerfile,
      'FROM scratch\nCOPY package.json ./\nCOPY src src\nCOPY --from=build /nothing ./\n',
    );
    writeFileSync(`${dockerfile}.dockerignore`, ignore);
    const { status, stderr } = buildContext(dockerfile);
    expect([status, stderr.includes(`not exist: ${missing}\n`)]).toEqual([code, code === 1]);
  });

  test('pins exact base images with an LTS release of Node.js', () => {
    const images = read('deploy/Dockerfile').match(/^FROM \S+/gm) ?? [];
    expect(images).toHaveLength(2);
    for (const image of images) expect(image).toMatch(/^FROM node:(22|24)\.\d+\.\d+-bookworm-slim$/);
    expect(read('deploy/compose.yaml')).toMatch(/image: mariadb:\d+\.\d+\.\d+$/m);
  });

  test('runs as an unprivileged user with resource limits', () => {
    expect(read('deploy/Dockerfile')).toMatch(/^USER node$/m);
    const limits = ['read_only: true', 'cap_drop: [ALL]', 'mem_limit: 512m'];
    for (const line of [...limits, "security_opt: ['no-new-privileges:true']"])
      expect(read('deploy/compose.yaml')).toContain(`\n  ${line}\n`);
    expect(read('deploy/compose.tls.yaml')).toContain('--require-secure-transport=ON');
  });
});

test('the systemd unit runs the service in a sandbox with resource limits', () => {
  const unit = read('deploy/rollcall.service');
  for (const line of [
    'User=rollcall',
    'CapabilityBoundingSet=',
    'NoNewPrivileges=yes',
    'ProtectSystem=strict',
    'PrivateTmp=yes',
    'SystemCallFilter=@system-service',
    'MemoryMax=512M',
    'LimitCORE=0',
    'KillMode=mixed',
  ])
    expect(unit).toContain(`\n${line}\n`);
});

test.each([
  ['deploy/rollcall.service', /^LimitNOFILE=(\d+)$/m],
  ['deploy/compose.yaml', /^ +nofile: (\d+)$/m],
])('%s allows the open files that the default of MAX_CONNECTIONS requires', (file, limit) => {
  const spare = 1000; // files of the database, pipes of the worker processes, connections to other servers
  expect(Number(limit.exec(read(file))?.[1])).toBeGreaterThanOrEqual(loadEnv({}).MAX_CONNECTIONS + spare);
});

test('every package in package-lock.json has a checksum', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { integrity?: string; link?: boolean; inBundle?: boolean }>;
  };
  const bare = Object.entries(packages).filter(
    ([path, { integrity, inBundle }]) => path !== '' && !integrity && !inBundle,
  );
  expect(Object.keys(packages).length).toBeGreaterThan(100);
  expect(bare.map(([path]) => path)).toEqual([]);
});

test('the SBOM lists exactly the packages installed with the service', () => {
  const file = join(folder, 'bom', 'rollcall.cdx.json');
  runScript(['.ci/sbom.mjs', file]);
  const { bomFormat, components } = JSON.parse(readFileSync(file, 'utf8')) as {
    bomFormat: string;
    components: { name: string; version: string; hashes?: unknown[] }[];
  };
  expect(bomFormat).toBe('CycloneDX');
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { version: string; dev?: boolean }>;
  };
  const listed = new Set(components.map(({ name, version }) => `${name}@${version}`));
  const idOf = ([path, { version }]: [string, { version: string }]) =>
    `${path.replace(/^.*node_modules\//, '')}@${version}`;
  const all = Object.entries(packages).filter(([path]) => path !== '');
  const isShipped = ([path, { dev }]: (typeof all)[number]) =>
    !dev && !path.startsWith('node_modules/node-linux-');
  const installed = all.filter(isShipped).map(idOf);
  expect(installed.length).toBeGreaterThan(50);
  expect(listed).toEqual(new Set(installed));
  expect(installed).toEqual(expect.arrayContaining([expect.stringMatching(/^commander@/)])); // also a development dependency
  expect(components.filter(({ hashes }) => !hashes?.length)).toEqual([]);
});

describe('the advisory check', () => {
  const none = { info: 0, low: 0, moderate: 0, high: 0, critical: 0, total: 0 };
  const createReport = (vulnerabilities: object, named: object = {}) =>
    JSON.stringify({ vulnerabilities: named, metadata: { vulnerabilities, dependencies: { prod: 170 } } });
  /** Runs the check with this output of `npm audit`. Returns its output and exit code. */
  const runCheck = (printed: string, settings: Record<string, string> = {}) => {
    writeFileSync(join(folder, 'npm'), `#!/bin/sh\ncat <<'END'\n${printed}\nEND\nexit 1\n`);
    chmodSync(join(folder, 'npm'), 0o755);
    const env = { PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}`, ...settings };
    const { stdout, status } = runScript(['.ci/advisories.mjs'], env);
    return [stdout.trimEnd(), status];
  };

  test('fails if npm audit reports advisories', () => {
    expect(runCheck(createReport(none))).toEqual(['advisories: none for 170 packages', 0]);
    const report = createReport({ ...none, high: 2, low: 1, total: 3 }, { a: {}, b: {} });
    expect(runCheck(report)).toEqual(['advisories: 3 (1 low, 2 high): a, b', 1]);
  });

  test.each([
    ['an error', '{"error":{"code":"ENOAUDIT"}}', 'the registry responded with ENOAUDIT'],
    ['a refusal', '{"statusCode":405,"error":{"detail":""}}', 'the registry responded with status 405'],
    ['a report without counts', '{}', 'the registry responded with no counts'],
    [
      'a report about no packages',
      '{"metadata":{"vulnerabilities":{"total":0},"dependencies":{"prod":0}}}',
      'the registry responded with no counts',
    ],
    ['nothing', '', 'npm audit printed no report'],
  ])('reports NOT CHECKED if npm audit prints %s', (_, printed, why) => {
    expect(runCheck(printed)).toEqual([`advisories: NOT CHECKED (${why})`, 0]);
    expect(runCheck(printed, { ADVISORIES: 'required' })[1]).toBe(1);
  });
});
