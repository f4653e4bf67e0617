import { Injectable } from '@nestjs/common';
import { type Logger, pino } from 'pino';
import { Env } from '../config/env.js';

/** One JSON line an event, on standard output unless a command line needs that for itself. Bodies, headers and query strings never go in: they hold secrets. */
@Injectable()
export class Log {
  private pino: Logger;

  constructor(private readonly env: Env) {
    this.pino = this.writeTo(process.stdout.fd);
  }

  /** From now on lines go to standard error: a command keeps standard output for its result. */
  useStderr(): void {
    this.pino = this.writeTo(process.stderr.fd);
  }

  request(fields: { request_id: string; method: string; path: string; status: number; ms: number }): void {
    this.pino.info(fields, 'request');
  }

  /** A fault with the stack of its cause; the message of a driver's error may quote values, so it stays out. */
  fault(requestId: string, code: string, thrown: unknown): void {
    const stack = thrown instanceof Error ? thrown.stack?.split('\n    at ').slice(1) : undefined;
    const name = thrown instanceof Error ? thrown.name : typeof thrown;
    const cause = (thrown as { code?: unknown } | undefined)?.code;
    this.pino.error({ request_id: requestId, code, error: name, cause, stack }, 'fault');
  }

  event(message: string, fields: Record<string, string | number> = {}): void {
    this.pino.info(fields, message);
  }

  private writeTo(fd: number): Logger {
    const options = { level: this.env.LOG_LEVEL, base: null, timestamp: pino.stdTimeFunctions.isoTime };
    return pino(options, pino.destination(fd));
  }
}
