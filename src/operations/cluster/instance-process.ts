import { type BirpcReturn, createBirpc } from 'birpc';
import type { Worker } from 'node:cluster';
import { once } from 'node:events';
import type { MetricObject } from 'prom-client';
import type { FirstCredentials } from '../start/first-start.service.js';

/**
 * Maximum time to wait for the metrics of an instance. After this time, the last known counters of that instance are
 * used.
 */
const METRICS_TIMEOUT_MILLIS = 2000;

export type InstanceMetricsData = MetricObject[];

export interface InstanceStart {
  url: string;
  /** First credentials, if this instance created them. */
  first: FirstCredentials | undefined;
}

/** Calls from the primary to an instance. */
export interface InstanceCalls {
  getMetrics(): Promise<InstanceMetricsData>;
}

/** Calls from an instance to the primary. */
export interface PrimaryCalls {
  reportReady(start: InstanceStart): void;
  /** Reports that the instance cannot start. The instance ends after this call. */
  reportFailedStart(reason: string): void;
  getAllMetrics(): Promise<string>;
}

/** Process of an instance, as seen by the primary. */
export class InstanceProcess {
  /** Resolves when the instance serves requests. Rejects with the reason if it cannot start. */
  readonly ready: Promise<InstanceStart>;
  /** Resolves to the exit code or signal when the instance has ended. */
  readonly ended: Promise<string>;
  private readonly forked = performance.now();
  private readonly calls: BirpcReturn<InstanceCalls, PrimaryCalls>;
  private isServing = false;

  constructor(
    readonly worker: Worker,
    getAllMetrics: () => Promise<string>,
  ) {
    // Ignores errors of messages to a killed instance, because `ended` reports its end.
    worker.on('error', () => undefined);
    const { promise, resolve, reject } = Promise.withResolvers<InstanceStart>();
    // Without this handler, a rejection would end the process.
    promise.catch(() => undefined);
    this.ready = promise;
    this.calls = createBirpc<InstanceCalls, PrimaryCalls>(
      {
        reportReady: (start) => {
          this.isServing = true;
          resolve(start);
        },
        reportFailedStart: (reason) => {
          reject(new Error(reason));
        },
        getAllMetrics,
      },
      {
        post: (call: object) => worker.send(call),
        on: (listener) => worker.on('message', listener),
        timeout: METRICS_TIMEOUT_MILLIS,
      },
    );
    this.ended = once(worker, 'exit').then(([code, signal]: (number | string | null)[]) => {
      this.isServing = false;
      const how = String(signal ?? code);
      const reason = new Error(`An instance ended with ${how}.`);
      reject(reason);
      this.calls.$close(reason);
      return how;
    });
  }

  get ageMillis(): number {
    return performance.now() - this.forked;
  }

  /** Returns the metrics of the instance, or undefined if it does not serve requests or does not answer in time. */
  async getMetrics(): Promise<InstanceMetricsData | undefined> {
    return this.isServing ? this.calls.getMetrics().catch(() => undefined) : undefined;
  }
}
