import { beforeEach, describe, expect, test } from '@jest/globals';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SHUTDOWN_SIGNALS } from '../../src/platform/common/signals.js';
import { setUpFolder } from '../support/data/folder.js';
import { ROOT } from '../support/process/process.js';

/** A clone with the launcher and a program that prints how it was started, but without its own Node.js. */
const clone = setUpFolder();
const env = { PATH: process.env['PATH'] };
beforeEach(() => {
  copyFileSync(join(ROOT, 'launch.mjs'), join(clone, 'launch.mjs'));
  writeFileSync(
    join(clone, 'program.mjs'),
    `const [, program, ...args] = process.argv;
    if (args[0] === 'wait') {
      for (const signal of args.slice(1)) process.on(signal, () => process.exit(7));
      setInterval(() => undefined, 1000);
    } else process.exitCode = Number(args[0]);
    console.log(JSON.stringify({ program, args, flags: process.execArgv, isChild: process.env.CHILD === 'yes' }));`,
  );
  setRequiredNode('20.0');
});

/** Sets the oldest Node.js version that the clone supports. */
function setRequiredNode(version: string): void {
  writeFileSync(join(clone, 'package.json'), JSON.stringify({ engines: { node: `>=${version}` } }));
}

/** Installs a Node.js in the clone that marks its processes. */
function install(): void {
  const folder = join(clone, `node_modules/node-${process.platform}-${process.arch}/bin`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'node'), `#!/bin/sh\nCHILD=yes exec "${process.execPath}" "$@"\n`, {
    mode: 0o755,
  });
}

const run = (args: string[], variables: NodeJS.ProcessEnv = env) =>
  spawnSync(process.execPath, args, { cwd: clone, env: variables, encoding: 'utf8' });
const launch = (...args: string[]) => run(['--no-warnings', 'launch.mjs', ...args]);
const parse = (printed: string): unknown => JSON.parse(printed);

test('the launcher starts no child process if Node.js is new enough', () => {
  install();
  const { stdout, status } = launch('program.mjs', '3', '--flag');
  const started = { program: join(clone, 'program.mjs'), args: ['3', '--flag'], flags: ['--no-warnings'] };
  expect(parse(stdout)).toEqual({ ...started, isChild: false });
  expect(status).toBe(3);
});

describe('a launcher on outdated Node.js', () => {
  beforeEach(() => {
    setRequiredNode('99.0');
  });

  test('starts the Node.js in node_modules', () => {
    install();
    const { stdout, status } = launch('program.mjs', '5', 'a b');
    const flags = ['--no-warnings', '--disable-sigusr1'];
    expect(parse(stdout)).toMatchObject({ args: ['5', 'a b'], flags, isChild: true });
    expect(status).toBe(5);
  });

  test.each(SHUTDOWN_SIGNALS)('forwards %s to the program', async (signal) => {
    install();
    const args = ['launch.mjs', 'program.mjs', 'wait', signal];
    const child: ChildProcess = spawn(process.execPath, args, { cwd: clone, env });
    await once(child.stdout!, 'data');
    child.kill('SIGUSR1'); // is not forwarded and opens no inspector
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([7, null]);
  });

  test('prints advice if node_modules contains no Node.js', () => {
    const { stdout, stderr, status } = launch('program.mjs');
    expect([stdout, status]).toEqual(['', 1]);
    expect(stderr).toBe(
      `Rollcall needs Node.js 99.0 or later, but this is ${process.versions.node}. Install Node.js 24 from https://nodejs.org.\n`,
    );
  });
});

test('the launcher prefers the Node.js that runs npm', () => {
  install();
  const npm = join(clone, `node_modules/node-${process.platform}-${process.arch}/bin/node`);
  const { stdout } = run(['launch.mjs', 'program.mjs', '0'], { ...env, npm_node_execpath: npm });
  expect(parse(stdout)).toMatchObject({ isChild: true });
});
