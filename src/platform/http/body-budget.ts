import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ProblemError, unavailable } from '../common/errors.js';
import type { Observer } from '../telemetry/observe.js';
import { Metrics } from '../telemetry/metrics.js';
import { IN_FLIGHT_BYTES } from './bounds.js';

/**
 * The memory that the bodies of all requests may take together, so that no number of clients can use up that of the
 * process. What a request takes it keeps until it is answered.
 */
@Injectable()
export class BodyBudget implements Observer {
  private readonly held = new WeakMap<Response, number>();
  private total = 0;

  constructor(metrics: Metrics) {
    metrics.gauge(
      'rollcall_body_bytes',
      `Memory that bodies of requests hold; at ${IN_FLIGHT_BYTES} further ones get 503.`,
      'sum',
      () => this.total,
    );
  }

  /** Bytes that all requests hold. */
  get bytes(): number {
    return this.total;
  }

  /**
   * @throws ProblemError `unavailable` where the budget has no such room; `malformed_json` when the client has gone, whose
   * bytes nobody would give back.
   */
  take(response: Response, bytes: number): void {
    if (response.closed) throw new ProblemError('malformed_json', 'The body broke off.');
    if (this.total + bytes > IN_FLIGHT_BYTES) {
      throw unavailable('The service is receiving as much as it can hold.', 1);
    }
    this.add(response, bytes);
  }

  /** Gives back a part of what the request has taken. */
  give(response: Response, bytes: number): void {
    this.add(response, -Math.min(bytes, this.held.get(response) ?? 0));
  }

  answered(_request: Request, response: Response): void {
    const bytes = this.held.get(response);
    if (bytes !== undefined) this.add(response, -bytes);
  }

  private add(response: Response, bytes: number): void {
    this.total += bytes;
    this.held.set(response, (this.held.get(response) ?? 0) + bytes);
  }
}
