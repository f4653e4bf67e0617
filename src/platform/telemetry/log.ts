import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { type Logger, pino } from 'pino';
import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { Env } from '../config/env.js';
import { errorCode, originOf } from '../common/errors.js';
import { withoutSecrets } from '../common/secrets.js';
import { isoNow } from '../common/time.js';
import { prettyLine } from './pretty-line.js';
import { type Observer, type Outcome, pathOf } from './observe.js';

/** Characters per write: this many stay whole in a pipe that several workers write to. */
const MAX_WAITING = 2048;

/** Bytes that wait for a reader of a pipe at the most: some seconds of a busy service. */
const MAX_WAITING_BYTES = 1024 * 1024;
/** Until a pipe that was full is tried again. */
const RETRY_MILLIS = 50;
/** How long the end of the process waits for the reader of a pipe. */
const LAST_TRY_MILLIS = 500;
/** The write was not done now and may be in a moment. */
const BUSY: readonly (string | undefined)[] = ['EAGAIN', 'EBUSY', 'EINTR'];
const LINE_END = 10;

/**
 * Writes lines to standard output or standard error, whatever becomes of them: the service outlives its log. What the
 * reader of a pipe does not take at once waits in bounded memory and holds up nothing. What cannot be written (closed
 * pipe, full disk, too much waiting) is dropped and counted, and every later write is tried again.
 */
export class LogOutput {
  private opened: number | undefined;
  private readonly waiting: Buffer[] = [];
  private waitingBytes = 0;
  private timer: NodeJS.Timeout | undefined;
  private dropped = 0;
  /** What was written last is no end of a line. */
  private isWithin = false;
  /** The rest of that line is lost. */
  private torn = false;

  constructor(private readonly fd: number) {
    process.once('exit', () => {
      this.lastTry();
    });
  }

  /**
   * Writes whole lines, or keeps them for later. It does not throw.
   * @returns how many lines were lost before these, once something can be written again.
   */
  write(lines: string): number {
    const bytes = Buffer.from(lines);
    const isWritten = this.waiting.length > 0 ? this.writeInOrder(bytes) : this.send(bytes);
    if (!isWritten) return 0;
    const lost = this.dropped;
    this.dropped = 0;
    return lost;
  }

  /** Writes bytes after those that wait, or keeps them until the next retry. */
  private writeInOrder(bytes: Buffer): boolean {
    if (this.waitingBytes + bytes.length > MAX_WAITING_BYTES) this.drop(bytes);
    else {
      this.waiting.push(bytes);
      this.waitingBytes += bytes.length;
    }
    return !this.timer && this.flush();
  }

  /** Writes what waits. @returns true when all of it is written. */
  private flush(): boolean {
    for (let bytes = this.waiting.shift(); bytes; bytes = this.waiting.shift()) {
      this.waitingBytes -= bytes.length;
      if (!this.send(bytes)) return false;
    }
    return true;
  }

  /** Writes bytes. What a busy reader does not take is tried again, anything else is lost. @returns true when all are written. */
  private send(bytes: Buffer): boolean {
    let rest = bytes;
    try {
      if (this.torn) this.endTornLine();
      while (rest.length > 0) {
        const written = writeSync(this.target(), rest);
        if (written > 0) this.isWithin = rest[written - 1] !== LINE_END;
        rest = rest.subarray(written);
      }
      return true;
    } catch (error) {
      if (BUSY.includes(errorCode(error))) this.retrySoon(rest);
      else this.lose(rest);
      return false;
    }
  }

  private retrySoon(rest: Buffer): void {
    this.waiting.unshift(rest);
    this.waitingBytes += rest.length;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.flush();
    }, RETRY_MILLIS).unref();
  }

  private lose(rest: Buffer): void {
    this.torn = this.isWithin;
    this.drop(rest);
  }

  private endTornLine(): void {
    writeSync(this.target(), '\n');
    this.torn = this.isWithin = false;
  }

  private drop(bytes: Buffer): void {
    for (const byte of bytes) if (byte === LINE_END) this.dropped++;
  }

  /** A write to a pipe waits for its reader, with the whole process; opened anew for this process alone, it does not. */
  private target(): number {
    this.opened ??= nonBlocking(this.fd);
    return this.opened;
  }

  private lastTry(): void {
    const pause = new Int32Array(new SharedArrayBuffer(4));
    const until = Date.now() + LAST_TRY_MILLIS;
    while (!this.flush() && this.waiting.length > 0 && Date.now() < until) Atomics.wait(pause, 0, 0, 10);
  }
}

function nonBlocking(fd: number): number {
  try {
    if (!fstatSync(fd).isFIFO()) return fd;
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return fd; // no /proc, no reader yet, or a pipe of another user
  }
}

/** Keeps this process alive where its standard output or standard error fails, be it for what others print there. */
export function outliveOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}

/**
 * Writes one JSON line per event to standard output, or to standard error for the command line; for a person at a terminal a
 * line to read. Bodies, headers and query
 * strings are never logged, because they hold secrets; what looks like a credential in the rest is masked. The lines of requests are written together, at the end of a turn
 * of the event loop.
 */
@Injectable()
export class Log implements Observer {
  private readonly pino: Logger;
  private readonly format: Env['LOG_FORMAT'];
  private output = new LogOutput(process.stdout.fd);
  private isTerminal = process.stdout.isTTY;
  private waiting = '';

  constructor({ LOG_LEVEL: level, LOG_FORMAT: format, WORKERS }: Env) {
    this.format = format;
    const base = WORKERS > 1 ? { pid: process.pid } : null; // identifies the worker
    const options = { level, base, timestamp: () => `,"time":"${isoNow()}"` };
    this.pino = pino(options, {
      write: (line) => {
        this.keep(line);
      },
    });
  }

  /** Sends further lines to standard error: a command keeps standard output for its result. */
  useStderr(): void {
    this.output = new LogOutput(process.stderr.fd);
    this.isTerminal = process.stderr.isTTY;
  }

  answered(request: Request, _response: Response, ms: number, outcome: Outcome): void {
    this.request({
      request_id: request.requestId,
      method: request.method,
      path: pathOf(request),
      ...(outcome === 'aborted' ? { aborted: true } : { status: outcome }),
      ms: Math.round(ms * 10) / 10,
      ...senderOf(request),
    });
  }

  /** @param fields with `aborted` instead of a status where the client broke off: it has no answer. */
  request(fields: {
    request_id: string;
    method: string;
    path: string;
    status?: number;
    aborted?: boolean;
    ms: number;
  }): void {
    this.pino.info(fields, 'request');
  }

  /** Logs an error with its stack, without its message: a driver's message may quote values. */
  fault(requestId: string, code: string, thrown: unknown): void {
    const origin = originOf(thrown);
    const stack = origin instanceof Error ? origin.stack?.split('\n    at ').slice(1) : undefined;
    const name = origin instanceof Error ? origin.name : typeof origin;
    const cause = errorCode(origin);
    this.pino.error({ request_id: requestId, code, error: name, cause, stack }, 'fault');
    this.write();
  }

  event(message: string, fields: Record<string, string | number> = {}): void {
    this.pino.info(fields, message);
    this.write();
  }

  /** Logs what an operator should know although the service goes on. */
  warning(message: string, fields: Record<string, string | number>): void {
    this.pino.warn(fields, message);
    this.write();
  }

  /** Writes whole lines that a process beside this one has logged. */
  relay(lines: string): void {
    for (const line of lines.split(/(?<=\n)/)) this.add(line);
    this.write();
  }

  private keep(logged: string): void {
    this.add(withoutSecrets(logged));
  }

  /** Lines are for programs, unless a person looks on. */
  private get isPretty(): boolean {
    return this.format === undefined ? this.isTerminal : this.format === 'pretty';
  }

  private add(logged: string): void {
    const line = this.isPretty ? prettyLine(logged, this.isTerminal) : logged;
    if (this.waiting.length + line.length > MAX_WAITING) this.write();
    if (this.waiting === '') setImmediate(this.write.bind(this));
    this.waiting += line;
  }

  private write(): void {
    if (this.waiting === '') return;
    const lines = this.waiting;
    this.waiting = '';
    const lost = this.output.write(lines);
    if (lost > 0) this.warning('log lines lost', { lines: lost });
  }
}

/** Without an actor where the credentials were refused, or none were asked for. */
const senderOf = ({ actor, ip }: Partial<Request>) => ({
  ...(actor && { actor_kind: actor.kind, actor_id: actor.id }),
  ip,
});
