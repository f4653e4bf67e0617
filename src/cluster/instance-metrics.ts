import { AggregatorRegistry } from 'prom-client';
import type { MetricsShare } from './calls.js';
import type { WorkerProcess } from './worker-process.js';

/** A worker that does not answer by then is left out of a scrape but for what it had counted. */
const PATIENCE_MILLIS = 2000;

/**
 * The metrics of all workers as one, each by its `aggregator`. What only grows never shrinks: a worker that has died
 * leaves what the last scrape has seen of it, because Prometheus takes a smaller number for a new start from 0.
 */
export class InstanceMetrics {
  private readonly known = new Map<WorkerProcess, MetricsShare>();
  private past: MetricsShare = [];

  /** In the Prometheus format. */
  async text(workers: Iterable<WorkerProcess>): Promise<string> {
    await Promise.all([...workers].map((worker) => this.ask(worker)));
    return sum([...this.known.values(), this.past]).metrics();
  }

  /** A worker has ended. */
  keep(worker: WorkerProcess): void {
    const counts = counted(this.known.get(worker));
    this.known.delete(worker);
    this.past = sum([this.past, counts]).getMetricsAsArray() as MetricsShare;
  }

  private async ask(worker: WorkerProcess): Promise<void> {
    const share = await worker.metrics(PATIENCE_MILLIS);
    if (share) this.known.set(worker, share);
    else if (this.known.has(worker)) this.known.set(worker, counted(this.known.get(worker)));
  }
}

const sum = (shares: MetricsShare[]) => AggregatorRegistry.aggregate(shares);

/** What only grows; gauges tell of the living. */
const counted = (share: MetricsShare = []): MetricsShare =>
  share.filter(({ type }) => ['counter', 'histogram'].includes(String(type)));
