import type Passport from 'passport';
import { Readable, Writable } from 'node:stream';
import { Application } from '../../../src/cli/application.js';
import { runCommandLine } from '../../../src/cli/program.js';
import { createApp } from '../../../src/create-app.js';
import { ENTITIES } from '../../../src/entities.js';
import { API_KEY, type TestApp } from '../app/app.js';
import type { TestDatabase } from '../app/database.js';
import { loadNative } from '../jest/native.js';
import { type CommandResult, Process, ROOT, newcomer, said } from './process.js';

/** What the commands work on. */
export const application = new Application(ENTITIES, (env) => createApp(env, undefined, false));

/** The process of the tests, as the service sees it: Jest gives tests a copy. */
const service = loadNative('node:process') as NodeJS.Process;
const passport = loadNative('passport') as typeof Passport & { _strategies: object };

/**
 * Runs a command of the command line to its end, on this database. It runs in the process of the test, with the environment
 * that it would have in its own: one at a time. A backup, which lowers the priority of its process, has one of its own.
 */
export async function runCommand(
  database: TestDatabase,
  args: readonly string[],
  settings: Record<string, string> = {},
  folder = ROOT,
): Promise<CommandResult> {
  const environment: Record<string, string> = {
    PATH: service.env['PATH'] ?? '',
    ...newcomer(database),
    DATABASE_URL: database.url,
    ...settings,
  };
  if (args[0] === 'backup') {
    const command = Process.command(args, environment, folder);
    const { code } = await command.exit;
    return { code, out: command.out, ...said(command.err) };
  }
  const output = { out: '', err: '' };
  let code: number | undefined;
  const restore = replaceProcess(folder, environment, {
    exit: (given) => (code ??= given),
    write: (stream, text) => {
      if (code === undefined) output[stream] += text; // a process that has ended writes nothing
    },
  });
  try {
    await runCommandLine(application, args);
    code ??= Number(service.exitCode ?? 0);
  } catch (error) {
    if (code === undefined) throw error;
  } finally {
    restore();
  }
  return { code, out: output.out, ...said(output.err) };
}

/** Targets of a command: the database itself, or the service. Both give the same result. */
export const PLACES = ['database', 'service'] as const;

/** Runs a command of the command line on one of its targets. */
export const runAt = (
  place: (typeof PLACES)[number],
  app: TestApp,
  args: readonly string[],
): Promise<CommandResult> =>
  runCommand(app.database, place === 'database' ? args : [...args, '--url', app.url, '--key', API_KEY]);

interface Effects {
  exit: (code: number) => void;
  write: (stream: 'out' | 'err', text: string) => void;
}

/** Gives the process another folder, environment and streams. @returns what takes that back. */
function replaceProcess(
  folder: string,
  environment: NodeJS.ProcessEnv,
  { exit, write }: Effects,
): () => void {
  const { env, exitCode } = service;
  const cwd = service.cwd();
  const strategies = { ...passport._strategies };
  const variables = { ...env };
  const setVariables = (wanted: NodeJS.ProcessEnv) => {
    for (const name of Object.keys(env)) if (!(name in wanted)) Reflect.deleteProperty(env, name);
    Object.assign(env, wanted);
  };
  setVariables(environment);
  service.chdir(folder);
  service.exitCode = undefined;
  const undo = [
    replace(service, 'stdin', Readable.from([])),
    replace(service, 'exit', (code = 0) => {
      exit(code);
      throw new Error(`the command has ended with ${code}`);
    }),
    ...(['out', 'err'] as const).map((name) =>
      replace(
        service,
        `std${name}`,
        collectText(service[`std${name}`].fd, (text) => {
          write(name, text);
        }),
      ),
    ),
  ];
  return () => {
    for (const take of undo) take();
    service.exitCode = exitCode;
    service.chdir(cwd);
    setVariables(variables);
    Object.assign(passport._strategies, strategies);
  };
}

/** Creates a stream in place of standard output, which a command may end. */
function collectText(fd: number, add: (text: string) => void): Writable {
  const write = (chunk: Buffer, _: string, done: () => void) => {
    add(chunk.toString());
    done();
  };
  return Object.assign(new Writable({ write }), { fd, isTTY: false });
}

/** Replaces a property. @returns what puts the former one back. */
function replace(target: object, name: string, value: unknown): () => void {
  const former = Object.getOwnPropertyDescriptor(target, name);
  Object.defineProperty(target, name, { configurable: true, writable: true, value });
  return () => {
    if (former) Object.defineProperty(target, name, former);
    else Reflect.deleteProperty(target, name);
  };
}
