import { type BirpcReturn, createBirpc } from 'birpc';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { setPriority } from 'node:os';
import type { Readable } from 'node:stream';
import { isObject } from '../../common/json.js';

/** Characters of a line that are kept until its end is read. What is longer is no line of the log, and is dropped. */
const MAX_LINE = 64 * 1024;

/** How long a lane stays without work. */
const IDLE_MILLIS = 60_000;
/** How long a lane may take to end by itself. */
const END_MILLIS = 10_000;

/** How often a working lane is asked whether it is there, and how many questions in a row it may leave unanswered. */
const ASK_MILLIS = 4000;
const MOST_UNANSWERED = 4;
/** Limit of unanswered questions while the process loads, which its low priority makes slow on a busy machine. */
const MOST_UNANSWERED_AT_START = 30;

/** One thread of a lane allocates; glibc would keep memory for each of its threads (15 MiB more in an import). */
const ONE_ARENA = '1';

/** The flags of Node.js that this process was started with, for the processes that it starts. */
const ownFlags = (): string[] => process.execArgv.filter((flag) => !/^--(env-file|inspect)/.test(flag));

/** A lane ended before it answered. */
export class LaneEnded extends Error {
  /** @param wasSilent it was killed because it had answered nothing for a quarter of a minute. */
  constructor(
    how: string,
    readonly wasSilent: boolean,
  ) {
    super(`A lane ended with ${how}.`);
  }
}

/** What every lane answers, between two statements. */
export interface LaneCalls {
  isThere(): boolean;
}

/** What a lane runs, the flags of Node.js for it, and how far it steps back where processors are short (`nice`, 0 to 19). */
export interface LaneProgram {
  program: string;
  args?: readonly string[];
  flags?: readonly string[];
  niceness?: number;
}

/**
 * What a lane may call in the service, what takes the lines that it prints (by default they are dropped), and what is called with its
 * exit code or signal when it has ended.
 */
export interface LaneLink<Answers> {
  answers: Answers;
  printed?: (lines: string) => void;
  ended?: (how: string) => void;
}

/** A lane that runs: its calls, and its end. */
interface Running<Calls extends LaneCalls, Answers extends object> {
  child: ChildProcess;
  calls: BirpcReturn<Calls, Answers>;
  ended: Promise<string>;
  /** Questions in a row that the process has not answered, and how many of them it may leave unanswered. */
  unanswered: number;
  mostUnanswered: number;
}

/**
 * A separate process of this service: started with its first work, ended when it has had none
 * for a minute. One that works and answers nothing is killed, since others may wait for what it holds. A process and not a
 * thread: a thread cannot be stopped inside a statement, while a process can be killed at any moment, and its end by itself
 * ends no other (ADR 0018).
 */
export class LaneProcess<Calls extends LaneCalls, Answers extends object> {
  private running: Running<Calls, Answers> | undefined;
  private uses = 0;
  private idle: NodeJS.Timeout | undefined;
  private watch: NodeJS.Timeout | undefined;

  /** @param link makes this side of a process that is about to start. */
  constructor(
    private readonly program: LaneProgram,
    private readonly link: () => LaneLink<Answers>,
  ) {}

  /** Calls the lane, which is started where none runs. @throws LaneEnded; what the lane throws, as a plain Error. */
  async use<T>(work: (calls: BirpcReturn<Calls, Answers>) => Promise<T>): Promise<T> {
    clearTimeout(this.idle);
    this.uses++;
    this.running ??= this.start();
    this.watch ??= setInterval(() => {
      this.ask();
    }, ASK_MILLIS).unref();
    try {
      return await work(this.running.calls);
    } finally {
      if (--this.uses === 0) {
        clearInterval(this.watch);
        this.watch = undefined;
        this.idle = setTimeout(() => void this.end(), IDLE_MILLIS).unref();
      }
    }
  }

  /** Whether a process is there. */
  get isRunning(): boolean {
    return this.running !== undefined;
  }

  /** Ends the process, whatever it is doing; the next use starts another one. */
  kill(): void {
    this.running?.child.kill('SIGKILL');
  }

  /** Resolves when the process has ended: as soon as its channel is closed, it ends by itself. */
  async end(): Promise<void> {
    clearTimeout(this.idle);
    if (!this.running) return;
    const { child, ended } = this.running;
    if (child.connected) child.disconnect();
    const timer = setTimeout(() => child.kill('SIGKILL'), END_MILLIS);
    await ended;
    clearTimeout(timer);
  }

  /** Questions are counted, not seconds: this process may have been stopped itself. */
  private ask(): void {
    const { running } = this;
    if (!running) return;
    if (++running.unanswered > running.mostUnanswered) this.kill();
    else void Promise.resolve(running.calls.isThere()).catch(() => undefined); // `ended` reports the end
  }

  private start(): Running<Calls, Answers> {
    const { program, args = [], flags = [], niceness = 0 } = this.program;
    const env = { ...process.env, MALLOC_ARENA_MAX: ONE_ARENA };
    const link = this.link();
    const child = fork(program, args, {
      serialization: 'advanced',
      env,
      execArgv: [...ownFlags(), ...flags],
      stdio: ['ignore', link.printed ? 'pipe' : 'ignore', 'pipe', 'ipc'],
    });
    const printed = relayOutput(child, (lines) => link.printed?.(lines));
    if (child.pid !== undefined) setPriority(child.pid, niceness);
    // A message to a process that has ended fails; `ended` reports the end.
    child.on('error', () => undefined);
    const calls = createBirpc<Calls, Answers>(link.answers, {
      post: (message: object) => void child.send(message, () => undefined),
      on: (listener) => void child.on('message', listener),
      timeout: -1,
    });
    const running: Running<Calls, Answers> = {
      child,
      calls,
      ended: this.endOf(child, printed, calls, link),
      unanswered: 0,
      mostUnanswered: MOST_UNANSWERED_AT_START,
    };
    child.on('message', () => {
      running.unanswered = 0;
      running.mostUnanswered = MOST_UNANSWERED;
    });
    void Promise.resolve(calls.isThere()).catch(() => undefined); // the answer shows that the process has loaded
    child.unref(); // it ends with this process, and does not keep it alive
    child.channel?.unref();
    return running;
  }

  private async endOf(
    child: ChildProcess,
    printed: Promise<void>,
    calls: BirpcReturn<Calls, Answers>,
    { ended }: LaneLink<Answers>,
  ): Promise<string> {
    const [code, signal] = (await once(child, 'exit')) as (number | string | null)[];
    const how = String(signal ?? code);
    await printed;
    const wasSilent = this.running !== undefined && this.running.unanswered > this.running.mostUnanswered;
    this.running = undefined;
    calls.$close(new LaneEnded(how, wasSilent));
    ended?.(how);
    return how;
  }
}

/**
 * The other end, in the process itself: answers the calls, and ends the process with the one that started it.
 * @param eventNames the calls without an answer. @returns the calls to the process that started it.
 */
export function answerAsLane<Calls extends object, Answers extends LaneCalls>(
  answers: Answers,
  eventNames: (keyof Calls)[] = [],
): BirpcReturn<Calls, Answers> {
  // The service says when to end; a terminal, or systemd, signals all of its processes.
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => undefined);
  process.on('disconnect', () => process.exit());
  return createBirpc<Calls, Answers>(answers, {
    post: (message: object) => void process.send?.(message, undefined, undefined, () => undefined),
    on: (listener) => void process.on('message', listener),
    timeout: -1,
    eventNames,
  });
}

/**
 * Relays what a separate process prints, through pipes of its own: Node.js makes streams that two processes share blocking
 * when one of them starts or ends, and the log of the service would wait for its reader from then on.
 * @param printed takes whole lines of standard output. Standard error goes to that of
 * this process.
 * @returns when all of it is read. The event `close` of a child does not say so: with a channel it may never come.
 */
async function relayOutput(
  { stdout, stderr }: { stdout: Readable | null; stderr: Readable | null },
  printed: (lines: string) => void,
): Promise<void> {
  await Promise.all([
    stdout && relay(stdout, printed),
    stderr && relay(stderr, (lines) => void process.stderr.write(lines)),
  ]);
}

function relay(stream: Readable, take: (lines: string) => void): Promise<void> {
  if (stream instanceof Socket) stream.unref(); // it does not keep this process alive
  const lines = new WholeLines();
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    const whole = lines.add(text);
    if (whole !== '') take(whole);
  });
  stream.on('end', () => {
    const rest = lines.end();
    if (rest !== '') take(rest);
  });
  stream.on('error', () => undefined); // the end of the process is reported elsewhere
  return new Promise((resolve) => void stream.once('close', resolve));
}

/** Cuts what arrives in pieces into whole lines. */
export class WholeLines {
  private rest = '';
  private isTooLong = false;

  /** @returns the lines that end in this piece, each with its end. */
  add(text: string): string {
    const end = text.lastIndexOf('\n') + 1;
    if (end === 0) {
      this.keep(text);
      return '';
    }
    const begun = this.isTooLong ? text.slice(text.indexOf('\n') + 1, end) : this.rest + text.slice(0, end);
    this.rest = '';
    this.isTooLong = false;
    this.keep(text.slice(end));
    return begun;
  }

  /** @returns the last line where it has no end, with one. */
  end(): string {
    return this.rest === '' ? '' : `${this.rest}\n`;
  }

  private keep(text: string): void {
    this.isTooLong ||= this.rest.length + text.length > MAX_LINE;
    this.rest = this.isTooLong ? '' : this.rest + text;
  }
}

/** Why the schema cannot be used, as the process that looks at it reports it. */
export interface Refusal {
  refusal: string;
}

/**
 * Runs `migrateAtStart` in a separate process: the service uses TypeORM for nothing else, and would keep its code and
 * tables in memory for as long as it runs.
 * @throws Error with the message of `migrateAtStart`, or how the process has ended.
 */
export async function migrateInProcess(program: string): Promise<void> {
  // Not the streams of this process: Node.js would make them blocking when the child ends, and so the log of the service.
  const child = fork(program, { execArgv: ownFlags(), stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  child.stderr?.on('data', (chunk: Buffer) => process.stderr.write(chunk));
  let refusal: string | undefined;
  child.on('message', (message: unknown) => {
    if (isRefusal(message)) ({ refusal } = message);
  });
  // What it has sent is read before its channel is closed.
  const [[code, signal]] = (await Promise.all([once(child, 'exit'), once(child, 'disconnect')])) as [
    (number | string | null)[],
    unknown,
  ];
  if (code === 0) return;
  throw new Error(refusal ?? `The process that migrates the database ended with ${String(signal ?? code)}.`);
}

const isRefusal = (message: unknown): message is Refusal =>
  isObject(message) && typeof message['refusal'] === 'string';
