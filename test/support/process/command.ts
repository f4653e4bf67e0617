import type Passport from 'passport';
import { Readable, Writable } from 'node:stream';
import { Application } from '../../../src/cli/application.js';
import { runCommandLine } from '../../../src/cli/program.js';
import { createApp } from '../../../src/create-app.js';
import { ENTITIES } from '../../../src/entities.js';
import { API_KEY, type TestApp } from '../app/app.js';
import type { TestDatabase } from '../app/database.js';
import { loadNative } from '../jest/native.js';
import { type CommandResult, Process, ROOT, envOf, splitErrors } from './process.js';

/** The application that the commands use. */
export const application = new Application(ENTITIES, (env, lock) =>
  createApp(env, { lock, isService: false }),
);

/** The process object of the service. Jest gives tests a copy. */
const service = loadNative('node:process') as NodeJS.Process;
const passport = loadNative('passport') as typeof Passport & { _strategies: object };

/**
 * Runs a `rollcall` command on a database. The command runs in the process of the test with a separate environment, so
 * only one command can run at a time. A backup runs in a new process, because it lowers the priority of its process.
 */
export async function runCommand(
  database: TestDatabase,
  args: readonly string[],
  settings: Record<string, string> = {},
  folder = ROOT,
): Promise<CommandResult> {
  const environment: Record<string, string> = {
    PATH: service.env['PATH'] ?? '',
    ...envOf(database),
    DATABASE_URL: database.url,
    ...settings,
  };
  if (args[0] === 'backup') {
    const command = Process.startCommand(args, environment, folder);
    const { code } = await command.exit;
    return { code, out: command.out, ...splitErrors(command.err) };
  }
  const output = { out: '', err: '' };
  let code: number | undefined;
  const restore = replaceProcess(folder, environment, {
    exit: (exitCode) => (code ??= exitCode),
    write: (stream, text) => {
      if (code === undefined) output[stream] += text; // an ended process would write nothing
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
  return { code, out: output.out, ...splitErrors(output.err) };
}

/** Targets of a command: the database itself, or the service. Both give the same result. */
export const TARGETS = ['database', 'service'] as const;

/** Runs a `rollcall` command on one of its targets. */
export const runOn = (
  place: (typeof TARGETS)[number],
  app: TestApp,
  args: readonly string[],
): Promise<CommandResult> =>
  runCommand(app.database, place === 'database' ? args : [...args, '--url', app.url, '--key', API_KEY]);

interface Effects {
  exit: (code: number) => void;
  write: (stream: 'out' | 'err', text: string) => void;
}

/** Replaces folder, environment and streams of the process. @returns a function that restores them. */
function replaceProcess(
  folder: string,
  environment: NodeJS.ProcessEnv,
  { exit, write }: Effects,
): () => void {
  const { env, exitCode } = service;
  const cwd = service.cwd();
  const strategies = { ...passport._strategies };
  const original = { ...env };
  const setVariables = (variables: NodeJS.ProcessEnv) => {
    for (const name of Object.keys(env)) if (!(name in variables)) Reflect.deleteProperty(env, name);
    Object.assign(env, variables);
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
    for (const restore of undo) restore();
    service.exitCode = exitCode;
    service.chdir(cwd);
    setVariables(original);
    Object.assign(passport._strategies, strategies);
  };
}

/** Creates a stream that replaces standard output. A command may end it. */
function collectText(fd: number, add: (text: string) => void): Writable {
  const write = (chunk: Buffer, _: string, done: () => void) => {
    add(chunk.toString());
    done();
  };
  return Object.assign(new Writable({ write }), { fd, isTTY: false });
}

/** Replaces a property. @returns a function that restores it. */
function replace(target: object, name: string, value: unknown): () => void {
  const previous = Object.getOwnPropertyDescriptor(target, name);
  Object.defineProperty(target, name, { configurable: true, writable: true, value });
  return () => {
    if (previous) Object.defineProperty(target, name, previous);
    else Reflect.deleteProperty(target, name);
  };
}
