import cluster from 'node:cluster';
import { setTimeout as delay } from 'node:timers/promises';
import { RateLimiterClusterMaster } from 'rate-limiter-flexible';
import { Log } from '../telemetry/log.js';
import type { Env } from '../config/env.js';
import type { FirstCredentials } from '../setup/first-start.service.js';
import { credentials, welcome } from '../setup/welcome.js';
import { InstanceMetrics } from './instance-metrics.js';
import { WorkerProcess } from './worker-process.js';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
/** Before the next attempt at a worker that dies again and again: doubled each time, from … to. */
const RESTART_MILLIS = { first: 100, most: 10_000 };
/** A worker that has lived so long did start; what ends it then is a new story. */
const STEADY_MILLIS = 60_000;
/** Ends of a worker that was told to end; by the signal itself while it was still starting. */
const ORDERLY: readonly string[] = ['0', ...SIGNALS];
/** What an answer takes whose request has arrived. */
const ANSWER_SECONDS = 10;
/** npm and terminals send a signal twice; somebody who means it does so later. */
const SECOND_SIGNAL_MILLIS = 1000;

/**
 * The service as several processes on one port.
 * @param program what a worker runs: the file itself, not a link to it, so that one that is replaced during an upgrade is
 * still of this release.
 * @throws Error with the reason of the first worker that cannot start.
 */
export async function runPrimary(env: Env, program: string): Promise<void> {
  const primary = new Primary(env, program);
  for (const name of SIGNALS) process.on(name, () => void primary.end());
  await primary.start();
}

/** Starts the workers, replaces those that die, and ends them together. It serves nothing itself. */
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
    new RateLimiterClusterMaster(); // answers the workers' limiters (`auth/rate-limit.ts`)
    // A connection is taken by a worker that has time for it. Handed over by the primary, it would hang when the worker dies.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    cluster.setupPrimary({
      exec: program,
      args: [],
      // What such a file said is in the environment; by now it may say something else, or be gone.
      execArgv: process.execArgv.filter((arg) => !arg.startsWith('--env-file=')),
      serialization: 'advanced', // metrics may be NaN, which JSON does not know
    });
  }

  /** The first worker alone, so that it migrates, makes the way in and says what is wrong, then the others. */
  async start(): Promise<void> {
    try {
      const worker = this.fork();
      const { url, first } = await worker.ready;
      const others = Array.from({ length: this.env.WORKERS - 1 }, () => this.fork());
      await Promise.all(others.map(({ ready }) => ready)).catch((error: unknown) => {
        show(first);
        throw error;
      });
      process.stdout.write(welcome(url, first));
      for (const started of [worker, ...others]) void this.replace(started);
    } catch (error) {
      if (!this.ending.signal.aborted) throw error;
    }
  }

  /** Lets all requests be answered, then ends the process; a worker that hangs is killed, and the exit code is 1. */
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

  /** Puts another worker in the place of one that ends, again and again: at once, then less and less often. */
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

  private announce({ ready, pid }: WorkerProcess): void {
    ready.then(
      ({ first }) => {
        this.log.event('worker ready', { worker: pid });
        show(first);
      },
      (error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        if (!this.ending.signal.aborted) process.stderr.write(`A worker cannot start. ${reason}\n`);
      },
    );
  }
}

/** Credentials that no welcome tells of: they are shown now or never. */
function show(first: FirstCredentials | undefined): void {
  if (first) process.stdout.write(`${credentials(first).join('\n')}\n`);
}
