import { AggregatorRegistry } from 'prom-client';
import type { MetricsShare, WorkerProcess } from './worker-process.js';

/** Of a worker that does not answer in time, a scrape holds only the counters of its last answer. */
const TIMEOUT_MILLIS = 2000;

/**
 * The metrics of all workers, each combined by its `aggregator`. Counters never shrink: those of a dead worker stay as the
 * last scrape saw them, because Prometheus takes a smaller value for a restart from 0.
 */
export class InstanceMetrics {
  private readonly known = new Map<WorkerProcess, MetricsShare>();
  private past: MetricsShare = [];

  /** In the Prometheus format. */
  async text(workers: Iterable<WorkerProcess>): Promise<string> {
    await Promise.all([...workers].map((worker) => this.ask(worker)));
    return sum([...this.known.values(), this.past]).metrics();
  }

  /** Keeps the counters of a worker that has ended. */
  keep(worker: WorkerProcess): void {
    const counts = counted(this.known.get(worker));
    this.known.delete(worker);
    this.past = sum([this.past, counts]).getMetricsAsArray();
  }

  private async ask(worker: WorkerProcess): Promise<void> {
    const share = await worker.metrics(TIMEOUT_MILLIS);
    if (share) this.known.set(worker, share);
    else if (this.known.has(worker)) this.known.set(worker, counted(this.known.get(worker)));
  }
}

const sum = (shares: MetricsShare[]) => AggregatorRegistry.aggregate(shares);

/** Counters and histograms; gauges describe only live workers. */
const counted = (share: MetricsShare = []): MetricsShare =>
  share.filter(({ type }) => ['counter', 'histogram'].includes(String(type)));
