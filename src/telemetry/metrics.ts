import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { type Aggregator, Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { Observer } from './observe.js';

type Series = Histogram.Internal<'method' | 'route' | 'status'>;

/** What the service counts (Prometheus). No label ever holds what a client sent: routes, not paths. */
@Injectable()
export class Metrics implements Observer {
  private readonly registry = new Registry();
  private readonly requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Requests by method, route and status, and how long they took.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [this.registry],
  });
  private readonly logins = new Counter({
    name: 'rollcall_logins_total',
    help: 'Logins by result.',
    labelNames: ['result'],
    registers: [this.registry],
  });
  private readonly known = new Map<string, Series>();
  private answer = () => this.registry.metrics();

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  async text(): Promise<string> {
    return this.answer();
  }

  /** From now on a scrape gets this; a worker answers for all of them. */
  answerWith(text: () => Promise<string>): void {
    this.answer = text;
  }

  /** Those of this process, to be added up with those of others. */
  async share() {
    return this.registry.getMetricsAsJSON();
  }

  login(result: 'success' | 'failed' | 'throttled'): void {
    this.logins.inc({ result });
  }

  /**
   * A value that is asked for whenever somebody reads the metrics; NaN where that fails.
   * @param aggregator what several workers make of it: `sum` where each has its own, `max` where all read the same.
   */
  gauge(
    name: string,
    help: string,
    aggregator: Extract<Aggregator, 'sum' | 'max'>,
    read: () => number | Promise<number>,
  ): void {
    const collect = async (): Promise<void> => {
      gauge.set(
        await Promise.resolve()
          .then(read)
          .catch(() => Number.NaN),
      );
    };
    const gauge = new Gauge({ name, help, aggregator, registers: [this.registry], collect });
  }

  /** The series of these labels, kept: to find it by its labels costs more than to count. */
  private series(method: string, route: string, status: number): Series {
    const key = `${method} ${status} ${route}`;
    const series = this.known.get(key) ?? this.requests.labels(method, route, String(status));
    this.known.set(key, series);
    return series;
  }

  answered(request: Request, response: Response, ms: number): void {
    const route = (request.route as { path?: unknown } | undefined)?.path;
    const name = typeof route === 'string' ? route : 'none';
    this.series(request.method, name, response.statusCode).observe(ms / 1000);
  }
}
