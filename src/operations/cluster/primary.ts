import cluster from 'node:cluster';
import { setTimeout as delay } from 'node:timers/promises';
import { AggregatorRegistry } from 'prom-client';
import { RateLimiterClusterMaster } from 'rate-limiter-flexible';
import { messageOf } from '../../platform/common/errors.js';
import { CLEAN_EXITS, NO_INSPECTOR, SHUTDOWN_SIGNALS } from '../../platform/common/signals.js';
import { Log } from '../../platform/telemetry/log.js';
import type { Env } from '../../platform/config/env.js';
import { formatCredentials, logStartAndEnd, formatWelcome } from '../start/welcome.js';
import { type InstanceMetricsData, InstanceProcess } from './instance-process.js';

/** First delay and maximum delay before a failing instance is restarted. The delay doubles with each failure. */
const RESTART_MILLIS = { first: 100, most: 10_000 };
/** An instance that runs longer than this resets the restart delay. */
const STEADY_MILLIS = 60_000;
/** Time to send responses during a shutdown, after all requests have arrived. Hanging instances are killed after it. */
const ANSWER_SECONDS = 10;
/** A second signal kills the instances only after this time, because npm and terminals may send a signal twice. */
const SECOND_SIGNAL_MILLIS = 1000;

/**
 * Runs the service as several instances on one port.
 * @param program path of the program without symbolic links, so that an instance restarted during an upgrade still runs
 * this release.
 * @throws Error if the first instance cannot start. Later failures only reduce the number of instances.
 */
export async function runPrimary(env: Env, program: string): Promise<void> {
  const primary = new Primary(env, program);
  for (const name of SHUTDOWN_SIGNALS) process.on(name, () => void primary.end());
  await primary.start();
}

/** Starts the instances, replaces failed ones, and ends them together. The primary serves no requests itself. */
class Primary {
  private readonly log = new Log(this.env);
  private readonly metrics = new InstanceMetrics();
  private readonly instances = new Set<InstanceProcess>();
  private readonly ending = new AbortController();
  private isClean = true;

  constructor(
    private readonly env: Env,
    program: string,
  ) {
    // Counts requests for the rate limiters of the instances (`auth/access.guard.ts`).
    new RateLimiterClusterMaster();
    // Instances accept connections themselves, because a connection that the primary passes to an instance would hang if
    // the instance dies.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    cluster.setupPrimary({
      exec: program,
      args: [],
      // Omits `--env-file`, because the environment already contains its values, and the file may have changed.
      execArgv: [...process.execArgv.filter((arg) => !arg.startsWith('--env-file=')), NO_INSPECTOR],
      serialization: 'advanced', // metrics may be NaN, which JSON cannot represent
    });
  }

  /**
   * Starts the first instance alone, because it migrates the schema and creates the first credentials. Then starts the
   * other instances.
   */
  async start(): Promise<void> {
    try {
      const instance = this.fork();
      const { url, first } = await instance.ready;
      const others = Array.from({ length: this.env.WORKERS - 1 }, () => this.fork());
      const starts = others.map(({ ready }) => ready.catch(this.reportFailedStart));
      // Instances that cannot start are replaced below.
      await Promise.all(starts);
      if (this.ending.signal.aborted) {
        // The first credentials cannot be shown later.
        if (first) process.stderr.write(`${formatCredentials(first).join('\n')}\n`);
        return;
      }
      logStartAndEnd(this.log, this.env, url);
      // Standard output is reserved for log lines.
      process.stderr.write(formatWelcome(url, this.env.CONSOLE_ENABLED, first));
      for (const started of [instance, ...others]) void this.keepRunning(started);
    } catch (error) {
      if (!this.ending.signal.aborted) throw error;
    }
  }

  /**
   * Lets all instances finish their open requests, then ends this process. If an instance hangs, kills it and exits
   * with code 1.
   */
  async end(): Promise<void> {
    if (this.ending.signal.aborted) return;
    this.ending.abort();
    for (const instance of this.instances) instance.worker.kill('SIGTERM');
    const { SHUTDOWN_DELAY_SECONDS, REQUEST_TIMEOUT_SECONDS } = this.env;
    const kill = (): void => {
      for (const instance of this.instances) instance.worker.kill('SIGKILL');
    };
    setTimeout(kill, (SHUTDOWN_DELAY_SECONDS + REQUEST_TIMEOUT_SECONDS + ANSWER_SECONDS) * 1000);
    setTimeout(() => {
      for (const name of SHUTDOWN_SIGNALS) process.once(name, kill);
    }, SECOND_SIGNAL_MILLIS);
    await Promise.all([...this.instances].map(({ ended }) => ended));
    process.exit(this.isClean ? 0 : 1);
  }

  private fork(): InstanceProcess {
    const instance = new InstanceProcess(cluster.fork(), () => this.metrics.collect(this.instances));
    this.instances.add(instance);
    void instance.ended.then((how) => {
      this.instances.delete(instance);
      this.metrics.retainCounters(instance);
      if (this.ending.signal.aborted && !CLEAN_EXITS.includes(how)) this.isClean = false;
    });
    return instance;
  }

  /** Replaces an instance each time it ends. The delay grows if instances end soon after their start. */
  private async keepRunning(instance: InstanceProcess): Promise<void> {
    for (let wait = RESTART_MILLIS.first; ; wait = Math.min(wait * 2, RESTART_MILLIS.most)) {
      const how = await instance.ended;
      if (this.ending.signal.aborted) return;
      if (instance.ageMillis > STEADY_MILLIS) wait = RESTART_MILLIS.first;
      this.log.warn('instance ended', {
        worker: instance.worker.process.pid ?? 0,
        exit: how,
        restart_ms: wait,
      });
      const { signal } = this.ending;
      if (!(await delay(wait, true, { signal }).catch(() => false))) return;
      instance = this.fork();
      this.reportReady(instance);
    }
  }

  private readonly reportFailedStart = (error: unknown): void => {
    if (!this.ending.signal.aborted) process.stderr.write(`An instance cannot start. ${messageOf(error)}\n`);
  };

  private reportReady({ ready, worker }: InstanceProcess): void {
    ready.then(() => {
      this.log.info('instance ready', { worker: worker.process.pid ?? 0 });
    }, this.reportFailedStart);
  }
}

/**
 * Combined metrics of all instances. Retains the counters of ended instances, because Prometheus treats a lower value
 * as a reset.
 */
class InstanceMetrics {
  private readonly known = new Map<InstanceProcess, InstanceMetricsData>();
  private past: InstanceMetricsData = [];

  async collect(instances: Iterable<InstanceProcess>): Promise<string> {
    await Promise.all([...instances].map((instance) => this.update(instance)));
    return AggregatorRegistry.aggregate([...this.known.values(), this.past]).metrics();
  }

  retainCounters(instance: InstanceProcess): void {
    const counts = selectCounters(this.known.get(instance));
    this.known.delete(instance);
    this.past = AggregatorRegistry.aggregate([this.past, counts]).getMetricsAsArray();
  }

  private async update(instance: InstanceProcess): Promise<void> {
    const share = await instance.getMetrics();
    if (share) this.known.set(instance, share);
    else if (this.known.has(instance)) this.known.set(instance, selectCounters(this.known.get(instance)));
  }
}

/** Returns only counters and histograms. Gauges are omitted, because their last values are out of date. */
const selectCounters = (share: InstanceMetricsData = []): InstanceMetricsData =>
  share.filter(({ type }) => ['counter', 'histogram'].includes(String(type)));
