import type { MetricObject } from 'prom-client';
import type { FirstCredentials } from '../setup/first-start.service.js';

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
