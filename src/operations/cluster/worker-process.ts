import { type BirpcReturn, createBirpc } from 'birpc';
import type { Worker } from 'node:cluster';
import { once } from 'node:events';
import type { MetricObject } from 'prom-client';
import type { FirstCredentials } from '../start/first-start.service.js';

/** Of a worker that does not answer in time, a scrape holds only the counters of its last answer. */
const METRICS_TIMEOUT_MILLIS = 2000;

/** The metrics of one process. */
export type MetricsShare = MetricObject[];

/** What a worker reports once it serves. */
export interface WorkerStart {
  /** Address of its server. */
  url: string;
  /** The first credentials, if this worker created them. */
  first: FirstCredentials | undefined;
}

/** Calls from the primary to a worker. */
export interface WorkerCalls {
  metrics(): Promise<MetricsShare>;
}

/** Calls from a worker to the primary. */
export interface PrimaryCalls {
  /** The worker serves. */
  ready(start: WorkerStart): void;
  /** The worker cannot start, and ends when this returns. */
  refused(reason: string): void;
  /** The metrics of all workers, in the Prometheus format. */
  metrics(): Promise<string>;
}

/** A worker, as seen by the primary. */
export class WorkerProcess {
  /** Resolves once it serves; rejects with the reason when it cannot start. */
  readonly ready: Promise<WorkerStart>;
  /** Resolves when it has ended, to its exit code or the name of the signal. */
  readonly ended: Promise<string>;
  private readonly forked = performance.now();
  private readonly calls: BirpcReturn<WorkerCalls, PrimaryCalls>;
  private serves = false;

  /** @param metrics reports the metrics of all workers. */
  constructor(
    private readonly worker: Worker,
    metrics: () => Promise<string>,
  ) {
    // A message to a killed worker fails; `ended` reports its end.
    worker.on('error', () => undefined);
    const { promise, resolve, reject } = Promise.withResolvers<WorkerStart>();
    promise.catch(() => undefined); // a rejection without a listener would end the process
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
        metrics,
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
      const reason = new Error(`A worker ended with ${how}.`);
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

  /** Its metrics; undefined while it does not serve, and when it does not answer in time. */
  async metrics(): Promise<MetricsShare | undefined> {
    return this.serves ? this.calls.metrics().catch(() => undefined) : undefined;
  }

  signal(name: 'SIGTERM' | 'SIGKILL'): void {
    this.worker.kill(name);
  }
}
