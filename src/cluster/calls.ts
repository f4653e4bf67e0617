import type { Registry } from 'prom-client';
import type { FirstCredentials } from '../setup/first-start.service.js';

/** The metrics of one process. */
export type MetricsShare = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** What the primary asks of a worker that is ready. */
export interface WorkerCalls {
  firstStart(): Promise<FirstCredentials | undefined>;
  metrics(): Promise<MetricsShare>;
}

/** What a worker tells the primary, or asks of it. */
export interface PrimaryCalls {
  /** It serves. @param url address of the server. */
  ready(url: string): void;
  /** It cannot start, and ends once it is heard. */
  refused(reason: string): void;
  /** Of all workers, in the Prometheus format. */
  metrics(): Promise<string>;
}
