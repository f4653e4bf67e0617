import { readFileSync, readdirSync } from 'node:fs';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Answer } from '../app/client.js';
import { afterEach, beforeEach } from '@jest/globals';
import { ENGINE, type TestDatabase, createDatabase } from '../app/database.js';
import type { Content } from '../app/template.js';

/** Root folder of the project. */
export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** A program of the built service. `npm test` builds it first. */
export type Script = 'dist/main.js' | 'dist/rollcall.js' | 'dist/cli.js' | 'dist/cli.js migrate';
export interface Exit {
  code: number | null;
  signal: string | null;
}

/** The welcome text of a started service, including the empty line at its end. */
const WELCOME =
  /\nRollcall \d+\.\d+\.\d+\S* is running\.\n(?:.+\n)+(?:\nFirst start\.[^]*?\nTry it:\n(?:.+\n)+)?\n/;

/** A program of the project in its own process. */
export class Process {
  private static readonly all: Process[] = [];
  private readonly child: ChildProcess;
  private stdout = '';
  private stderr = '';
  /** Exit code and signal, when the process has ended and all its output has arrived. */
  readonly exit: Promise<Exit>;

  /**
   * Starts a program.
   * @param settings the whole environment except PATH.
   * @param root the folder in which the program was built.
   * @param other another user and group for the process, and a Node.js that this user can run. Requires root.
   */
  constructor(
    script: Script,
    settings: Record<string, string>,
    folder = ROOT,
    args: readonly string[] = [],
    root = ROOT,
    other?: { id: number; node: string },
  ) {
    this.child = spawn(other?.node ?? process.execPath, [...`${root}${script}`.split(' '), ...args], {
      cwd: folder,
      env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['TEST_COMPILE_CACHE'], ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(other && { uid: other.id, gid: other.id }),
    });
    this.child.stdout?.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    this.child.stderr?.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    this.exit = once(this.child, 'close').then(([code, signal]) => ({ code, signal }));
    Process.all.push(this);
  }

  /** Starts a `rollcall` command. */
  static startCommand(args: readonly string[], settings: Record<string, string>, folder?: string): Process {
    return new Process('dist/cli.js', settings, folder, args);
  }

  /** Starts the service and waits until it reports that it is running. */
  static async startService(
    settings: Record<string, string>,
    folder?: string,
    root?: string,
  ): Promise<Process> {
    const service = new Process('dist/main.js', settings, folder, [], root);
    await service.waitUntilReady();
    return service;
  }

  /** Kills processes that a failed test left running. */
  static async killAll(): Promise<void> {
    for (const { child } of Process.all) child.kill('SIGKILL');
    await Promise.all(Process.all.splice(0).map(({ exit }) => exit));
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  get out(): string {
    return this.stdout;
  }

  get err(): string {
    return this.stderr;
  }

  /** Standard error without the welcome text. */
  get unexpectedOutput(): string {
    return this.stderr.replace(WELCOME, '');
  }

  /** Standard output and standard error. */
  get printed(): string {
    return this.stdout + this.stderr;
  }

  /** URL of the server, from the welcome text. */
  get url(): string {
    return /^ *API +(http:\/\/127\.0\.0\.1:\d+)\/api\/0\.3$/m.exec(this.stderr)?.[1] ?? '';
  }

  /** Waits for the welcome text. @throws Error with the output if the process ends instead. */
  async waitUntilReady(): Promise<void> {
    await this.waitUntil(this.child.stderr, () => WELCOME.test(this.stderr));
  }

  /** Waits until the process has written a text. @throws Error with the output if the process ends instead. */
  async waitForOutput(text: string): Promise<void> {
    await Promise.any(
      [this.child.stdout, this.child.stderr].map((stream) =>
        this.waitUntil(stream, () => this.printed.includes(text)),
      ),
    );
  }

  /**
   * Sends a request repeatedly until the service responds.
   * @throws Error with the output if the process ends instead.
   */
  async waitForResponse(send: () => Promise<Answer>): Promise<Answer> {
    for (;;) {
      const response = await send().catch(() => undefined);
      if (response) return response;
      if (this.child.exitCode !== null) throw new Error(`the service ended: ${this.printed.slice(0, 2000)}`);
    }
  }

  private async waitUntil(stream: ChildProcess['stdout'], isDone: () => boolean): Promise<void> {
    const ended = this.exit.then(({ code }) => {
      throw new Error(`the service ended with ${code}: ${this.printed.slice(0, 2000)}`);
    });
    ended.catch(() => undefined);
    while (!isDone()) await Promise.race([once(stream as NonNullable<typeof stream>, 'data'), ended]);
  }

  /** Returns the ids of the processes that responded to requests of a path, from their log lines. */
  findResponders(path: string): number[] {
    const lines = this.stdout.split('\n').slice(0, -1);
    const requests = lines.filter((line) => line.includes(`"path":"${path}"`));
    return [...new Set(requests.map((line) => (JSON.parse(line) as { pid: number }).pid))];
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  async stop(): Promise<Exit> {
    this.signal('SIGTERM');
    return this.exit;
  }
}

/** Returns settings for a first start on the folder and database of a test, with a free port. */
export function envOf({ folder, url }: TestDatabase): Record<string, string> {
  const unset = { BASE_URL: '', BOOTSTRAP_API_KEY: '', BOOTSTRAP_WEBMASTER_PASSWORD: '' };
  const mariadb = ENGINE === 'mariadb' && { DATABASE_URL: url, MIGRATE_ON_START: 'true' };
  return { ...unset, DATA_DIR: folder, DATABASE_URL: '', PORT: '0', ...mariadb };
}

/**
 * Creates a database before each test of a file that starts processes. After each test the processes are killed and the
 * database is dropped.
 * @param content as in `createDatabase`. A service migrates an empty MariaDB, which takes a third of its start.
 */
export function setUpDatabase(content?: Content): TestDatabase {
  const database: TestDatabase = { url: '', folder: '', drop: () => Promise.resolve() };
  beforeEach(async () => void Object.assign(database, await createDatabase(content)));
  afterEach(async () => {
    await Process.killAll();
    await database.drop();
  });
  return database;
}

/** Exit code and output of a command. */
export interface CommandResult {
  code: number | null;
  out: string;
  /** Standard error without the line that names the database or service. */
  err: string;
  place: string;
}

/** Splits standard error of a command into the line that names its database or service and the rest. */
export function splitErrors(err: string): { err: string; place: string } {
  const [, place = ''] = /^((?:Database|Service): .*\n)/.exec(err) ?? [];
  return { err: err.slice(place.length), place };
}

/** Occupies a port of 127.0.0.1 until `release` is called. */
export async function occupyPort(): Promise<{ port: number; release: () => Promise<void> }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    port,
    release: async () => {
      server.close();
      await once(server, 'close');
    },
  };
}

/** Suspends a process with SIGSTOP. Waits until it is suspended, because a busy machine handles the signal late. */
export async function suspend(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  while (!readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') T ')) await setImmediate();
}

/** Returns the ids of the running child processes of a process (proc(5), `stat`). */
export function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const [state, parent] = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
        return parent === String(pid) && state !== 'Z';
      } catch {
        return false; // the process has ended meanwhile
      }
    })
    .map(Number);
}
