import { type BirpcReturn, createBirpc } from 'birpc';
import type { Worker } from 'node:cluster';
import { once } from 'node:events';
import type { MetricsShare, PrimaryCalls, WorkerCalls, WorkerStart } from './calls.js';

/** A worker as its primary sees it. */
export class WorkerProcess {
  /** How it has started, once it serves. Rejects with the reason when it cannot. */
  readonly ready: Promise<WorkerStart>;
  /** How it ended: an exit code, or the name of a signal. */
  readonly ended: Promise<string>;
  private readonly forked = performance.now();
  private readonly calls: BirpcReturn<WorkerCalls, PrimaryCalls>;
  private serves = false;

  /** @param metrics answers the worker's question for those of all. */
  constructor(
    private readonly worker: Worker,
    metrics: () => Promise<string>,
  ) {
    // A message to a worker that was killed fails; `ended` tells of it.
    worker.on('error', () => undefined);
    const { promise, resolve, reject } = settledLater<WorkerStart>();
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
        post: (call) => worker.send(call as object),
        on: (listener) => worker.on('message', listener),
      },
    );
    this.ended = once(worker, 'exit').then(([code, signal]) => {
      this.serves = false;
      const how = String((signal as string | null) ?? code);
      const gone = new Error(`A worker ended with ${how}.`);
      reject(gone);
      this.calls.$close(gone);
      return how;
    });
  }

  get pid(): number {
    return this.worker.process.pid ?? 0;
  }

  get ageMillis(): number {
    return performance.now() - this.forked;
  }

  /** Undefined while it does not serve, and when it does not answer within `millis`. */
  async metrics(millis: number): Promise<MetricsShare | undefined> {
    if (!this.serves) return undefined;
    const { promise, resolve } = settledLater<undefined>();
    const timer = setTimeout(resolve, millis, undefined);
    return Promise.race([this.calls.metrics(), promise])
      .catch(() => undefined)
      .finally(() => {
        clearTimeout(timer);
      });
  }

  signal(name: 'SIGTERM' | 'SIGKILL'): void {
    this.worker.kill(name);
  }
}

/** `Promise.withResolvers`, which Node 20 lacks. Nobody need be there when it rejects. */
function settledLater<T>() {
  let resolve!: (value: T) => void;
  let reject!: (reason: Error) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
