import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../support/process/process.js';

/** A clone with a launcher, a program that prints how it was started, and no Node.js of its own. */
let clone: string;
const env = { PATH: process.env['PATH'] };
beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'rollcall-launch-'));
  copyFileSync(join(ROOT, 'launch.mjs'), join(clone, 'launch.mjs'));
  writeFileSync(
    join(clone, 'program.mjs'),
    `const [, program, ...args] = process.argv;
    if (args[0] === 'wait') {
      process.on('SIGTERM', () => process.exit(7));
      setInterval(() => undefined, 1000);
    } else process.exitCode = Number(args[0]);
    console.log(JSON.stringify({ program, args, flags: process.execArgv, isChild: process.env.CHILD === 'yes' }));`,
  );
  needs('20.0');
});
afterEach(() => {
  rmSync(clone, { recursive: true });
});

/** Sets the oldest Node.js that the clone runs on. */
function needs(version: string): void {
  writeFileSync(join(clone, 'package.json'), JSON.stringify({ engines: { node: `>=${version}` } }));
}

/** Puts a Node.js into the clone that marks its processes. */
function install(): void {
  const folder = join(clone, `node_modules/node-${process.platform}-${process.arch}/bin`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'node'), `#!/bin/sh\nCHILD=yes exec "${process.execPath}" "$@"\n`, {
    mode: 0o755,
  });
}

const launch = (...args: string[]) =>
  spawnSync(process.execPath, ['--no-warnings', 'launch.mjs', ...args], {
    cwd: clone,
    env,
    encoding: 'utf8',
  });
const started = (printed: string): unknown => JSON.parse(printed);

test('a Node.js that is new enough runs the program in its own process', () => {
  install();
  const { stdout, status } = launch('program.mjs', '3', '--flag');
  expect(started(stdout)).toEqual({
    program: join(clone, 'program.mjs'),
    args: ['3', '--flag'],
    flags: ['--no-warnings'],
    isChild: false,
  });
  expect(status).toBe(3);
});

describe('a Node.js that is too old', () => {
  beforeEach(() => {
    needs('99.0');
  });

  test('hands over to the Node.js of the clone, with flags, arguments and exit code', () => {
    install();
    const { stdout, status } = launch('program.mjs', '5', 'a b');
    expect(started(stdout)).toMatchObject({ args: ['5', 'a b'], flags: ['--no-warnings'], isChild: true });
    expect(status).toBe(5);
  });

  test('passes SIGTERM on, and ends as the program does', async () => {
    install();
    const child: ChildProcess = spawn(process.execPath, ['launch.mjs', 'program.mjs', 'wait'], {
      cwd: clone,
      env,
    });
    await once(child.stdout!, 'data');
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([7, null]);
  });

  test('is refused in one sentence where the clone has none', () => {
    const { stdout, stderr, status } = launch('program.mjs');
    expect([stdout, status]).toEqual(['', 1]);
    expect(stderr).toBe(
      `Rollcall needs Node.js 99.0 or later, and this is ${process.versions.node}: install Node.js 24 from https://nodejs.org.\n`,
    );
  });
});

test('the Node.js that runs npm comes before the one of node_modules/.bin', () => {
  install();
  const npm = join(clone, `node_modules/node-${process.platform}-${process.arch}/bin/node`);
  const { stdout } = spawnSync(process.execPath, ['launch.mjs', 'program.mjs', '0'], {
    cwd: clone,
    env: { ...env, npm_node_execpath: npm },
    encoding: 'utf8',
  });
  expect(started(stdout)).toMatchObject({ isChild: true });
});
