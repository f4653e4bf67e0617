import { type BirpcReturn, createBirpc } from 'birpc';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { isObject } from '../../common/json.js';
import { NO_INSPECTOR, SHUTDOWN_SIGNALS } from '../../common/signals.js';

const IDLE_MILLIS = 60_000;
/** Time that a worker process has to exit before it is killed. */
const END_MILLIS = 10_000;

const PING_MILLIS = 4000;
/** Maximum number of unanswered pings in a row. If there are more, the process is killed. */
const MAX_UNANSWERED = 4;
/** Maximum number of unanswered pings while the process starts, which can take long on a busy machine. */
const MAX_UNANSWERED_AT_START = 30;

/**
 * Number of glibc memory arenas. One is enough, because only one thread allocates. With one arena for each thread, an
 * import would need 15 MiB more.
 */
const ONE_ARENA = '1';

const getNodeFlags = (): string[] =>
  process.execArgv.filter((flag) => !/^--(env-file|inspect)/.test(flag)).concat(NO_INSPECTOR);

/** Environment variable with the id of the process that started a worker process. */
const PARENT = 'ROLLCALL_PARENT_PID';

/**
 * Ends a worker process whose parent process has ended. Call it before opening a database file. SQLite would rebuild
 * the index of the log, from which the next start reads how many commits the log must contain.
 */
export function exitIfOrphaned(): void {
  if (process.env[PARENT] !== String(process.ppid)) process.exit();
}

/** Thrown if a worker process ends before it answers a call. */
export class WorkerEndedError extends Error {
  /** @param exit exit code or signal. @param wasSilent true if the process was killed because it did not answer pings. */
  constructor(
    readonly exit: string,
    readonly wasSilent: boolean,
  ) {
    super(`A worker process ended with ${exit}.`);
  }
}

/** Calls that every worker process answers. While it runs a statement, they wait. */
export interface WorkerCalls {
  ping(): boolean;
}

/** The program of a worker process, with its arguments and Node.js flags. `niceness` is 0 to 19, as for `nice`. */
export interface WorkerProgram {
  program: string;
  args?: readonly string[];
  flags?: readonly string[];
  niceness?: number;
}

/** The service's side of the channel to a worker process. */
export interface WorkerLink<Handlers> {
  /** Functions of the service that the worker process may call. */
  handlers: Handlers;
  /** Receives each line that the worker process prints. Without this function the lines are dropped. */
  onLine?: (line: string) => void;
  /** Receives the exit code or signal of the worker process. */
  onExit?: (exit: string) => void;
}

interface RunningWorker<Calls extends WorkerCalls, Handlers extends object> {
  child: ChildProcess;
  calls: BirpcReturn<Calls, Handlers>;
  exited: Promise<string>;
  unanswered: number;
  maxUnanswered: number;
}

/**
 * A separate process of this service. It starts when it is first used and ends after a minute without work. It is
 * killed if it does not answer pings, because it may hold a lock. It is not a thread, because a thread cannot be
 * stopped inside a statement (ADR 18).
 */
export class WorkerProcess<Calls extends WorkerCalls, Handlers extends object> {
  private running: RunningWorker<Calls, Handlers> | undefined;
  private useCount = 0;
  private idleTimer: NodeJS.Timeout | undefined;
  private pingTimer: NodeJS.Timeout | undefined;

  constructor(
    private readonly program: WorkerProgram,
    private readonly createLink: () => WorkerLink<Handlers>,
  ) {}

  /**
   * Starts the worker process if necessary, and runs `makeCalls` with a proxy that calls its functions.
   * @throws WorkerEndedError if the process ends. Errors thrown in the worker process arrive as plain `Error` objects.
   */
  async startAndCall<T>(makeCalls: (calls: BirpcReturn<Calls, Handlers>) => Promise<T>): Promise<T> {
    clearTimeout(this.idleTimer);
    this.useCount++;
    this.running ??= this.start();
    this.pingTimer ??= setInterval(() => {
      this.sendPing();
    }, PING_MILLIS).unref();
    try {
      return await makeCalls(this.running.calls);
    } finally {
      if (--this.useCount === 0) {
        clearInterval(this.pingTimer);
        this.pingTimer = undefined;
        this.idleTimer = setTimeout(() => void this.end(), IDLE_MILLIS).unref();
      }
    }
  }

  get isRunning(): boolean {
    return this.running !== undefined;
  }

  /** Kills the process at once. The next use starts a new process. */
  kill(): void {
    this.running?.child.kill('SIGKILL');
  }

  /** Ends the process and waits for its exit. Kills the process if that takes too long. */
  async end(): Promise<void> {
    clearTimeout(this.idleTimer);
    if (!this.running) return;
    const { child, exited } = this.running;
    if (child.connected) child.disconnect();
    const timer = setTimeout(() => child.kill('SIGKILL'), END_MILLIS);
    await exited;
    clearTimeout(timer);
  }

  /**
   * Sends a ping, or kills the process if too many pings are unanswered. The pings are counted instead of timed,
   * because this process may itself have been suspended.
   */
  private sendPing(): void {
    const { running } = this;
    if (!running) return;
    if (++running.unanswered > running.maxUnanswered) this.kill();
    else void Promise.resolve(running.calls.ping()).catch(() => undefined); // fails if the process has exited, and `waitForExit` handles the exit
  }

  private start(): RunningWorker<Calls, Handlers> {
    const { program, args = [], flags = [], niceness = 0 } = this.program;
    const env = { ...process.env, MALLOC_ARENA_MAX: ONE_ARENA, [PARENT]: String(process.pid) };
    const link = this.createLink();
    const child = fork(program, args, {
      serialization: 'advanced',
      env,
      execArgv: [...getNodeFlags(), ...flags],
      stdio: ['ignore', link.onLine ? 'pipe' : 'ignore', 'pipe', 'ipc'],
      detached: true, // a terminal sends its signals to the whole process group, even before the program has loaded
    });
    const printed = relayOutput(child, (line) => link.onLine?.(line));
    if (child.pid !== undefined) setPriority(child.pid, niceness);
    // Ignores failed messages to an ended process, because `waitForExit` handles its exit.
    child.on('error', () => undefined);
    const calls = createBirpc<Calls, Handlers>(link.handlers, {
      post: (message: object) => void child.send(message, () => undefined),
      on: (listener) => void child.on('message', listener),
      timeout: -1,
    });
    const running: RunningWorker<Calls, Handlers> = {
      child,
      calls,
      exited: this.waitForExit(child, printed, calls, link),
      unanswered: 0,
      maxUnanswered: MAX_UNANSWERED_AT_START,
    };
    child.on('message', () => {
      running.unanswered = 0;
      running.maxUnanswered = MAX_UNANSWERED;
    });
    // The answer to this ping shows that the process has loaded.
    void Promise.resolve(calls.ping()).catch(() => undefined);
    child.unref(); // the worker process must not keep this process alive
    child.channel?.unref();
    return running;
  }

  private async waitForExit(
    child: ChildProcess,
    outputDone: Promise<void>,
    calls: BirpcReturn<Calls, Handlers>,
    link: WorkerLink<Handlers>,
  ): Promise<string> {
    const [code, signal] = (await once(child, 'exit')) as (number | string | null)[];
    const exit = String(signal ?? code);
    await outputDone;
    const wasSilent = this.running !== undefined && this.running.unanswered > this.running.maxUnanswered;
    this.running = undefined;
    calls.$close(new WorkerEndedError(exit, wasSilent));
    link.onExit?.(exit);
    return exit;
  }
}

/**
 * Serves calls in a worker process. The worker process ends when its channel to the parent process closes.
 * @param eventNames names of the calls to the parent process that return nothing.
 * @returns the calls to the parent process.
 */
export function serveAsWorker<Calls extends object, Handlers extends WorkerCalls>(
  handlers: Handlers,
  eventNames: (keyof Calls)[] = [],
): BirpcReturn<Calls, Handlers> {
  // Ignores signals, because a supervisor may send them to all processes of the service. A worker process ends only when
  // its channel closes.
  for (const name of SHUTDOWN_SIGNALS) process.on(name, () => undefined);
  process.on('disconnect', () => process.exit());
  return createBirpc<Calls, Handlers>(handlers, {
    post: (message: object) => void process.send?.(message, undefined, undefined, () => undefined),
    on: (listener) => void process.on('message', listener),
    timeout: -1,
    eventNames,
  });
}

/**
 * Relays the output of a child process, and resolves when both streams have ended. The child does not inherit the
 * streams of this process, because Node.js would make them blocking. A slow reader of the log would then block the
 * service.
 * @param onLine receives each line of standard output, without its line break.
 */
async function relayOutput(
  { stdout, stderr }: { stdout: Readable | null; stderr: Readable | null },
  onLine: (line: string) => void,
): Promise<void> {
  await Promise.all([
    stdout && relayLines(stdout, onLine),
    stderr && relayLines(stderr, (line) => void process.stderr.write(`${line}\n`)),
  ]);
}

function relayLines(stream: Readable, onLine: (line: string) => void): Promise<void> {
  if (stream instanceof Socket) stream.unref(); // an open pipe must not keep this process alive
  const lines = createInterface({ input: stream }).on('line', onLine);
  // Without these listeners, an error of the stream would end this process.
  for (const source of [stream, lines]) source.on('error', () => undefined);
  return new Promise((resolve) => void stream.once('close', resolve));
}

export interface MigrationRefusal {
  refusal: string;
}

/**
 * Runs `migrateAtStart` in a separate process, so that TypeORM's schema tools do not stay in the memory of the service.
 * @throws Error with the message of `migrateAtStart`, or with the exit code or signal of the process.
 */
export async function runMigrator(program: string): Promise<void> {
  // The child does not share the streams of this process, because Node.js would make them blocking when the child ends.
  const child = fork(program, { execArgv: getNodeFlags(), stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  child.stderr?.on('data', (chunk: Buffer) => process.stderr.write(chunk));
  let refusal: string | undefined;
  child.on('message', (message: unknown) => {
    if (isObject(message) && typeof message['refusal'] === 'string') refusal = message['refusal'];
  });
  // All messages are read before the event `disconnect`, so `refusal` is set when this event arrives.
  const [exit] = await Promise.all([once(child, 'exit'), once(child, 'disconnect')]);
  const [code, signal] = exit as (number | string | null)[];
  if (code === 0) return;
  throw new Error(refusal ?? `The migration process ended with ${String(signal ?? code)}.`);
}
