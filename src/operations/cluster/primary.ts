import cluster from 'node:cluster';
import { setTimeout as delay } from 'node:timers/promises';
import { AggregatorRegistry } from 'prom-client';
import { RateLimiterClusterMaster } from 'rate-limiter-flexible';
import { Log } from '../../platform/telemetry/log.js';
import type { Env } from '../../platform/config/env.js';
import type { FirstCredentials } from '../start/first-start.service.js';
import { credentials, logLife, welcome } from '../start/welcome.js';
import { type MetricsShare, WorkerProcess } from './worker-process.js';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
/** Delay before a worker that keeps dying is restarted: doubled each time, between these limits. */
const RESTART_MILLIS = { first: 100, most: 10_000 };
/** A worker that lived this long has started well; its end is no longer a failed start. */
const STEADY_MILLIS = 60_000;
/** How a worker ends on request; by the signal itself while it is still starting. */
const ORDERLY: readonly string[] = ['0', ...SIGNALS];
/** Allowance for the answer to a request that has arrived. */
const ANSWER_SECONDS = 10;
/** npm and terminals send a signal twice; a deliberate second signal comes later. */
const SECOND_SIGNAL_MILLIS = 1000;

/**
 * Runs the service as several processes on one port.
 * @param program the file that a worker runs, not a link to it, so that a worker restarted during an upgrade still runs
 * this release.
 * @throws Error with the reason why the first worker cannot start. From then on the service goes on with those that can.
 */
export async function runPrimary(env: Env, program: string): Promise<void> {
  const primary = new Primary(env, program);
  for (const name of SIGNALS) process.on(name, () => void primary.end());
  await primary.start();
}

/** Starts the workers, replaces those that die, and ends them together. It serves no requests itself. */
class Primary {
  private readonly log: Log;
  private readonly metrics = new InstanceMetrics();
  private readonly workers = new Set<WorkerProcess>();
  private readonly ending = new AbortController();
  private clean = true;

  constructor(
    private readonly env: Env,
    program: string,
  ) {
    this.log = new Log(env);
    new RateLimiterClusterMaster(); // answers the workers' limiters (`auth/access.guard.ts`)
    // An idle worker accepts the connection. Handed over by the primary, it would hang when the worker dies.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    cluster.setupPrimary({
      exec: program,
      args: [],
      // The values of such a file are in the environment already, and it may have changed since.
      execArgv: process.execArgv.filter((arg) => !arg.startsWith('--env-file=')),
      serialization: 'advanced', // metrics may be NaN, which JSON does not know
    });
  }

  /** Starts the first worker alone, so that it migrates, creates the first credentials and reports faults, then the others. It serves meanwhile. */
  async start(): Promise<void> {
    try {
      const worker = this.fork();
      const { url, first } = await worker.ready;
      const others = Array.from({ length: this.env.WORKERS - 1 }, () => this.fork());
      const starts = others.map(({ ready }) => ready.catch(this.complain));
      await Promise.all(starts); // one that could not start is replaced: the first one serves
      if (this.ending.signal.aborted) {
        show(first);
        return;
      }
      logLife(this.log, this.env, url);
      process.stderr.write(welcome(url, this.env.CONSOLE_ENABLED, first)); // standard output has log lines only
      for (const started of [worker, ...others]) void this.replace(started);
    } catch (error) {
      if (!this.ending.signal.aborted) throw error;
    }
  }

  /** Ends all workers once their requests are answered, then this process. A worker that hangs is killed; the exit code is then 1. */
  async end(): Promise<void> {
    if (this.ending.signal.aborted) return;
    this.ending.abort();
    for (const worker of this.workers) worker.signal('SIGTERM');
    const { SHUTDOWN_DELAY_SECONDS, REQUEST_TIMEOUT_SECONDS } = this.env;
    const kill = (): void => {
      for (const worker of this.workers) worker.signal('SIGKILL');
    };
    setTimeout(kill, (SHUTDOWN_DELAY_SECONDS + REQUEST_TIMEOUT_SECONDS + ANSWER_SECONDS) * 1000);
    setTimeout(() => {
      for (const name of SIGNALS) process.once(name, kill);
    }, SECOND_SIGNAL_MILLIS);
    await Promise.all([...this.workers].map(({ ended }) => ended));
    process.exit(this.clean ? 0 : 1);
  }

  private fork(): WorkerProcess {
    const worker = new WorkerProcess(cluster.fork(), () => this.metrics.text(this.workers));
    this.workers.add(worker);
    void worker.ended.then((how) => {
      this.workers.delete(worker);
      this.metrics.keep(worker);
      if (this.ending.signal.aborted && !ORDERLY.includes(how)) this.clean = false;
    });
    return worker;
  }

  /** Replaces a worker each time it ends, with growing delays while it keeps ending early. */
  private async replace(worker: WorkerProcess): Promise<void> {
    for (let wait = RESTART_MILLIS.first; ; wait = Math.min(wait * 2, RESTART_MILLIS.most)) {
      const how = await worker.ended;
      if (this.ending.signal.aborted) return;
      if (worker.ageMillis > STEADY_MILLIS) wait = RESTART_MILLIS.first;
      this.log.warning('worker ended', { worker: worker.pid, exit: how, restart_ms: wait });
      const { signal } = this.ending;
      if (!(await delay(wait, true, { signal }).catch(() => false))) return;
      worker = this.fork();
      this.announce(worker);
    }
  }

  private readonly complain = (error: unknown): void => {
    const reason = error instanceof Error ? error.message : String(error);
    if (!this.ending.signal.aborted) process.stderr.write(`A worker cannot start. ${reason}\n`);
  };

  private announce({ ready, pid }: WorkerProcess): void {
    ready.then(({ first }) => {
      this.log.event('worker ready', { worker: pid });
      show(first);
    }, this.complain);
  }
}

/** Shows credentials that no welcome shows. */
function show(first: FirstCredentials | undefined): void {
  if (first) process.stderr.write(`${credentials(first).join('\n')}\n`);
}

/**
 * The metrics of all workers, each combined by its `aggregator`. Counters never shrink: those of a dead worker stay as the
 * last scrape saw them, because Prometheus takes a smaller value for a restart from 0.
 */
class InstanceMetrics {
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
    const share = await worker.metrics();
    if (share) this.known.set(worker, share);
    else if (this.known.has(worker)) this.known.set(worker, counted(this.known.get(worker)));
  }
}

const sum = (shares: MetricsShare[]) => AggregatorRegistry.aggregate(shares);

/** Counters and histograms; gauges describe only live workers. */
const counted = (share: MetricsShare = []): MetricsShare =>
  share.filter(({ type }) => ['counter', 'histogram'].includes(String(type)));
