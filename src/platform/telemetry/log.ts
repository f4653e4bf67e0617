import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { type Logger, pino, stdTimeFunctions } from 'pino';
import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { Env } from '../config/env.js';
import { errorCodeOf, rootErrorOf } from '../common/errors.js';
import { maskSecrets } from '../common/secrets.js';
import { replaceHidden } from '../common/text.js';
import { type RequestObserver, type RequestResult, getPath } from './observe.js';

/** Maximum characters of one write. Writes of this size stay atomic in a pipe that several instances share. */
const MAX_BUFFERED = 2048;

/** Maximum bytes buffered for a slow pipe reader. A busy service writes this much in a few seconds. */
const MAX_BUFFERED_BYTES = 1024 * 1024;
/** Delay before a write to a full pipe is retried. */
const RETRY_MILLIS = 50;
/** Maximum time that the exiting process waits for a pipe reader. */
const FINAL_FLUSH_MILLIS = 500;
const RETRYABLE: readonly (string | undefined)[] = ['EAGAIN', 'EBUSY', 'EINTR'];
const NEWLINE = 10;

/**
 * Writes log lines to standard output or standard error without ever blocking or failing. Lines for a slow pipe reader are
 * buffered in limited memory. Lines that cannot be written (closed pipe, full disk, full buffer) are dropped and counted.
 */
export class LogOutput {
  private openedFd: number | undefined;
  private readonly buffered: Buffer[] = [];
  private bufferedBytes = 0;
  private timer: NodeJS.Timeout | undefined;
  private dropped = 0;
  /** True if the last written byte was not a line break. */
  private isWithinLine = false;
  /** True if the rest of a partly written line was dropped. */
  private isLineCut = false;

  constructor(private readonly fd: number) {
    process.once('exit', this.flushBeforeExit.bind(this));
  }

  /**
   * Writes or buffers whole lines. It does not throw.
   * @returns the number of lines dropped since the last successful write, or 0 if this write did not succeed.
   */
  write(lines: string): number {
    const bytes = Buffer.from(lines);
    const isWritten = this.buffered.length > 0 ? this.appendAndFlush(bytes) : this.send(bytes);
    if (!isWritten) return 0;
    const lost = this.dropped;
    this.dropped = 0;
    return lost;
  }

  /**
   * Appends bytes to the buffer, and flushes it unless a retry is pending.
   * @returns true if the buffer is empty afterwards.
   */
  private appendAndFlush(bytes: Buffer): boolean {
    if (this.bufferedBytes + bytes.length > MAX_BUFFERED_BYTES) this.countDropped(bytes);
    else {
      this.buffered.push(bytes);
      this.bufferedBytes += bytes.length;
    }
    return !this.timer && this.flush();
  }

  /** @returns true if the buffer is empty afterwards. */
  private flush(): boolean {
    for (let bytes = this.buffered.shift(); bytes; bytes = this.buffered.shift()) {
      this.bufferedBytes -= bytes.length;
      if (!this.send(bytes)) return false;
    }
    return true;
  }

  /**
   * Writes bytes. If the pipe is full, the rest is buffered and written later. After any other failure, the rest is
   * dropped.
   * @returns true if all bytes were written.
   */
  private send(bytes: Buffer): boolean {
    let rest = bytes;
    try {
      if (this.isLineCut) {
        writeSync(this.getOpenFd(), '\n'); // ends the truncated line
        this.isLineCut = this.isWithinLine = false;
      }
      while (rest.length > 0) {
        const written = writeSync(this.getOpenFd(), rest);
        if (written > 0) this.isWithinLine = rest[written - 1] !== NEWLINE;
        rest = rest.subarray(written);
      }
      return true;
    } catch (error) {
      if (RETRYABLE.includes(errorCodeOf(error))) this.scheduleRetry(rest);
      else {
        this.isLineCut = this.isWithinLine;
        this.countDropped(rest);
      }
      return false;
    }
  }

  private scheduleRetry(rest: Buffer): void {
    this.buffered.unshift(rest);
    this.bufferedBytes += rest.length;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.flush();
    }, RETRY_MILLIS).unref();
  }

  private countDropped(bytes: Buffer): void {
    for (const byte of bytes) if (byte === NEWLINE) this.dropped++;
  }

  private getOpenFd(): number {
    return (this.openedFd ??= reopenNonBlocking(this.fd));
  }

  private flushBeforeExit(): void {
    const pause = new Int32Array(new SharedArrayBuffer(4));
    const until = performance.now() + FINAL_FLUSH_MILLIS;
    while (!this.flush() && this.buffered.length > 0 && performance.now() < until)
      Atomics.wait(pause, 0, 0, 10);
  }
}

/** Reopens a pipe in non-blocking mode, so that a slow reader does not block the process. */
function reopenNonBlocking(fd: number): number {
  try {
    if (!fstatSync(fd).isFIFO()) return fd;
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return fd; // /proc is missing, the pipe has no reader yet, or another user owns it
  }
}

/** Prevents errors of standard output and standard error from ending this process. */
export function ignoreOutputErrors(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}

/**
 * Writes one JSON line per event to standard output, or to standard error for commands. Bodies, headers and query
 * strings are never logged, because they contain secrets. Credentials in other texts are masked. Lines of requests are
 * written in batches, once per iteration of the event loop.
 */
@Injectable()
export class Log implements RequestObserver {
  private readonly pino: Logger;
  /** JSON of the fields that every line contains: the process id if there are several instances. */
  private readonly baseFields: string;
  private output = new LogOutput(process.stdout.fd);
  private buffered = '';

  constructor({ LOG_LEVEL: level, WORKERS }: Env) {
    const base = WORKERS > 1 ? { pid: process.pid } : null; // the process id identifies the instance
    this.baseFields = base ? `"pid":${base.pid},` : '';
    const options = { level, base, timestamp: stdTimeFunctions.isoTime };
    this.pino = pino(options, {
      write: (line) => {
        this.add(`${replaceHidden(maskSecrets(line.slice(0, -1)))}\n`);
      },
    });
  }

  /** Writes to standard error from now on, because a command writes its result to standard output. */
  useStderr(): void {
    this.output = new LogOutput(process.stderr.fd);
  }

  onRequestEnd(req: Request, _response: Response, ms: number, outcome: RequestResult): void {
    this.logRequest(toRequestFields(req, ms, outcome));
  }

  /** Writes the line that pino would write, in a fraction of the time. 30 is pino's level `info`. */
  logRequest(fields: ReturnType<typeof toRequestFields>): void {
    if (!this.pino.isLevelEnabled('info')) return;
    const json = JSON.stringify(fields).slice(1, -1);
    this.add(`{"level":30,"time":"${new Date().toISOString()}",${this.baseFields}${json},"msg":"request"}\n`);
  }

  /** Logs an error with its stack but without its message, because a driver's message may quote values. */
  logFault(requestId: string, code: string, thrown: unknown): void {
    const origin = rootErrorOf(thrown);
    const stack = origin instanceof Error ? origin.stack?.split('\n    at ').slice(1) : undefined;
    const name = origin instanceof Error ? origin.name : typeof origin;
    const cause = errorCodeOf(origin);
    this.pino.error({ request_id: requestId, code, error: name, cause, stack }, 'fault');
    this.write();
  }

  info(message: string, fields: Record<string, string | number> = {}): void {
    this.pino.info(fields, message);
    this.write();
  }

  error(message: string, fields: Record<string, string | number>): void {
    this.pino.error(fields, message);
    this.write();
  }

  warn(message: string, fields: Record<string, string | number>): void {
    this.pino.warn(fields, message);
    this.write();
  }

  writeLine(line: string): void {
    this.add(`${line}\n`);
    this.write();
  }

  private add(line: string): void {
    if (this.buffered.length + line.length > MAX_BUFFERED) this.write();
    if (this.buffered === '') setImmediate(this.write.bind(this));
    this.buffered += line;
  }

  private write(): void {
    if (this.buffered === '') return;
    const lines = this.buffered;
    this.buffered = '';
    const lost = this.output.write(lines);
    if (lost > 0) this.warn('log lines lost', { lines: lost });
  }
}

/**
 * Returns the fields of a request's log line. If the client disconnected before the response was complete, `aborted` is
 * true and `status` is missing.
 */
function toRequestFields(req: Request, ms: number, outcome: RequestResult) {
  const result: { status?: number; aborted?: true } =
    outcome === 'aborted' ? { aborted: true } : { status: outcome };
  return {
    request_id: req.requestId,
    method: req.method,
    path: replaceHidden(maskSecrets(getPath(req))), // the only field with text from the client
    ...result,
    ms: Math.round(ms * 10) / 10,
    ...getSenderFields(req),
  };
}

/** Returns the sender fields of a log line. The actor is missing on public routes and for invalid credentials. */
const getSenderFields = ({ actor, ip }: Partial<Request>) => ({
  ...(actor && { actor_kind: actor.kind, actor_id: actor.id }),
  ip,
});
