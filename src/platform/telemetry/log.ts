import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { type Logger, pino } from 'pino';
import { Env } from '../config/env.js';
import { LogOutput } from './log-output.js';
import { prettyLine } from './pretty-line.js';
import { type Observer, type Outcome, pathOf } from './observe.js';
import { originOf } from '../common/error-origin.js';
import { errorCode } from '../common/errors.js';
import { withoutSecrets } from '../common/mask-secrets.js';
import { isoNow } from '../common/time.js';

/** Characters per write: this many stay whole in a pipe that several workers write to. */
const MAX_WAITING = 2048;

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
    if (this.waiting === '') {
      setImmediate(() => {
        this.write();
      });
    }
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
