import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { setTimeout } from 'node:timers/promises';
import { isObject } from '../common/json.js';
import type { RequestObserver, RequestResult } from './observe.js';

/** Minimum time between two renderings. */
const RENDER_MILLIS = 1000;
/** Methods with series of their own. The HTTP parser accepts many more. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Value of a gauge, or its value for each value of the label `reason`. */
type GaugeValue = number | { reason: string; value: number }[];
export type ReadGauge = () => GaugeValue | Promise<GaugeValue>;

/** Prometheus metrics of this process. Labels never contain client input, so they name routes instead of paths. */
@Injectable()
export class Metrics implements RequestObserver {
  readonly registry = new Registry();
  private readonly requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Duration of requests in seconds, by method, route and status. Status aborted: the client disconnected early.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [this.registry],
  });
  readonly logins = new Counter({
    name: 'rollcall_logins_total',
    help: 'Number of logins by result.',
    labelNames: ['result'],
    registers: [this.registry],
  });
  readonly ignoredFields = new Counter({
    name: 'rollcall_ignored_fields_total',
    help: 'Unknown user fields that were ignored because the API key has unknown_fields set to ignore.',
    registers: [this.registry],
  });
  readonly scimDeviations = new Counter({
    name: 'rollcall_scim_deviations_total',
    help: 'Deviations of SCIM clients from RFC 7644, by kind and by the profile of the API key.',
    labelNames: ['kind', 'profile'],
    registers: [this.registry],
  });
  /** Renders the metrics as text. In a cluster, each instance sets a function that renders the metrics of all instances. */
  renderText = (): Promise<string> => this.registry.metrics();
  private nextText: Promise<string> | undefined;
  private rendered = Number.NEGATIVE_INFINITY;

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }

  /**
   * Adds a gauge whose value is read on each scrape. The value is NaN if `read` fails.
   * @param aggregator how instances combine the value: `sum` if each has its own value, `max` if all read the same value.
   */
  addGauge(name: string, help: string, read: ReadGauge, aggregator: 'sum' | 'max' = 'sum'): void {
    const tryRead = async (): Promise<GaugeValue> => read();
    const collect = async (): Promise<void> => {
      const values = await tryRead().catch(() => Number.NaN);
      if (typeof values === 'number') metric.set(values);
      else for (const { reason, value } of values) metric.set({ reason }, value);
    };
    const registers = [this.registry];
    const metric = new Gauge({ name, help, aggregator, labelNames: ['reason'], registers, collect });
  }

  /** Renders the metrics, at most once a second. Calls within that second wait for the next rendering and share it. */
  render(): Promise<string> {
    return (this.nextText ??= this.renderNext());
  }

  private async renderNext(): Promise<string> {
    await setTimeout(Math.max(0, this.rendered + RENDER_MILLIS - performance.now()));
    this.nextText = undefined;
    this.rendered = performance.now();
    return this.renderText();
  }

  onRequestEnd(request: Request, _response: Response, ms: number, outcome: RequestResult): void {
    const route: unknown = request.route;
    const name = isObject(route) && typeof route['path'] === 'string' ? route['path'] : 'none';
    const method = METHODS.has(request.method) ? request.method : 'other';
    this.requests.labels(method, name, String(outcome)).observe(ms / 1000);
  }
}
