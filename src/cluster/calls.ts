import type { Registry } from 'prom-client';
import type { FirstCredentials } from '../setup/first-start.service.js';

/** The metrics of one process. */
export type MetricsShare = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** How a worker has started. */
export interface WorkerStart {
  /** Address of its server. */
  url: string;
  /** The first credentials, if it has made them. */
  first: FirstCredentials | undefined;
}

/** What the primary asks of a worker that is ready. */
export interface WorkerCalls {
  metrics(): Promise<MetricsShare>;
}

/** What a worker tells the primary, or asks of it. */
export interface PrimaryCalls {
  /** It serves. */
  ready(start: WorkerStart): void;
  /** It cannot start, and ends once it is heard. */
  refused(reason: string): void;
  /** Of all workers, in the Prometheus format. */
  metrics(): Promise<string>;
}
