import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { type Aggregator, Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { isObject } from '../common/json.js';
import type { Observer, Outcome } from './observe.js';

type Series = Histogram.Internal<'method' | 'route' | 'status'>;

/** The metrics of this process (Prometheus). No label holds what a client sent: routes, not paths. */
@Injectable()
export class Metrics implements Observer {
  private readonly registry = new Registry();
  private readonly requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Requests by method, route and status (aborted: the client broke off), and how long they took.',
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
  private readonly ignored = new Counter({
    name: 'rollcall_ignored_fields_total',
    help: 'Fields of users that were ignored, because the API key is made so.',
    registers: [this.registry],
  });
  private readonly deviations = new Counter({
    name: 'rollcall_scim_deviations_total',
    help: 'What SCIM clients send otherwise than the RFC has it, by kind and by the profile of the API key.',
    labelNames: ['kind', 'profile'],
    registers: [this.registry],
  });
  private readonly known = new Map<string, Series>();
  private report = () => this.registry.metrics();

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  async text(): Promise<string> {
    return this.report();
  }

  /** Replaces the source of scrapes: a worker reports the metrics of all workers. */
  reportFrom(text: () => Promise<string>): void {
    this.report = text;
  }

  /** The metrics of this process alone, to be combined with those of other workers. */
  async share() {
    return this.registry.getMetricsAsJSON();
  }

  login(result: 'success' | 'failed' | 'throttled'): void {
    this.logins.inc({ result });
  }

  scimDeviation(kind: string, profile: string): void {
    this.deviations.inc({ kind, profile });
  }

  ignoredFields(count: number): void {
    this.ignored.inc(count);
  }

  /**
   * Adds a value that is read on each scrape; NaN when that fails.
   * @param aggregator how workers combine it: `sum` if each has its own value, `max` if all read the same one.
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

  /** The series of these labels, cached: looking it up costs more than counting. */
  private series(method: string, route: string, status: Outcome): Series {
    const key = `${method} ${status} ${route}`;
    return this.known.get(key) ?? this.addSeries(key, method, route, String(status));
  }

  private addSeries(key: string, ...labels: [method: string, route: string, status: string]): Series {
    const series = this.requests.labels(...labels);
    this.known.set(key, series);
    return series;
  }

  answered(request: Request, _response: Response, ms: number, outcome: Outcome): void {
    const route: unknown = request.route;
    const name = isObject(route) && typeof route['path'] === 'string' ? route['path'] : 'none';
    this.series(request.method, name, outcome).observe(ms / 1000);
  }
}
