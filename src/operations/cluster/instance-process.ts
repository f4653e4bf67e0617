import { type BirpcReturn, createBirpc } from 'birpc';
import type { Worker } from 'node:cluster';
import { once } from 'node:events';
import type { MetricObject } from 'prom-client';
import type { FirstCredentials } from '../start/first-start.service.js';

/** Timeout for the metrics of an instance. After a timeout, a scrape contains the last known counters of the instance. */
const METRICS_TIMEOUT_MILLIS = 2000;

/** Metrics of one instance. */
export type MetricsShare = MetricObject[];

/** Report of an instance that has started. */
export interface WorkerStart {
  /** Address of the server. */
  url: string;
  /** First credentials, if this instance created them. */
  first: FirstCredentials | undefined;
}

/** Calls from the primary to an instance. */
export interface WorkerCalls {
  metrics(): Promise<MetricsShare>;
}

/** Calls from an instance to the primary. */
export interface PrimaryCalls {
  /** Reports that the instance serves requests. */
  ready(start: WorkerStart): void;
  /** Reports that the instance cannot start. The instance ends when this returns. */
  refused(reason: string): void;
  /** Returns the metrics of all instances in the Prometheus format. */
  metrics(): Promise<string>;
}

/** Process of an instance, as seen by the primary. */
export class WorkerProcess {
  /** Resolves when the instance serves requests. Rejects with the reason if it cannot start. */
  readonly ready: Promise<WorkerStart>;
  /** Resolves to the exit code or signal when the instance has ended. */
  readonly ended: Promise<string>;
  private readonly forked = performance.now();
  private readonly calls: BirpcReturn<WorkerCalls, PrimaryCalls>;
  private serves = false;

  /** @param getAllMetrics returns the metrics of all instances. */
  constructor(
    private readonly worker: Worker,
    getAllMetrics: () => Promise<string>,
  ) {
    // A message to a killed instance fails. `ended` reports the end.
    worker.on('error', () => undefined);
    const { promise, resolve, reject } = Promise.withResolvers<WorkerStart>();
    promise.catch(() => undefined); // an unhandled rejection would end the process
    this.ready = promise;
    this.calls = createBirpc<WorkerCalls, PrimaryCalls>(
      {
        ready: (start) => {
          this.serves = true;
          resolve(start);
        },
        refused: (reason) => {
          reject(new Error(reason));
        },
        metrics: getAllMetrics,
      },
      {
        post: (call: object) => worker.send(call),
        on: (listener) => worker.on('message', listener),
        timeout: METRICS_TIMEOUT_MILLIS,
      },
    );
    this.ended = once(worker, 'exit').then(([code, signal]: (number | string | null)[]) => {
      this.serves = false;
      const how = String(signal ?? code);
      const reason = new Error(`An instance ended with ${how}.`);
      reject(reason);
      this.calls.$close(reason);
      return how;
    });
  }

  get pid(): number {
    return this.worker.process.pid ?? 0;
  }

  get ageMillis(): number {
    return performance.now() - this.forked;
  }

  /** Returns the metrics of the instance, or undefined if it does not serve or does not answer in time. */
  async getMetrics(): Promise<MetricsShare | undefined> {
    return this.serves ? this.calls.metrics().catch(() => undefined) : undefined;
  }

  signal(name: 'SIGTERM' | 'SIGKILL'): void {
    this.worker.kill(name);
  }
}
