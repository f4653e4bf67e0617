import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { ImportRunsRepository } from '../runs/import-runs.repository.js';
import type { ImportRun } from '../runs/import-run.js';
import { RUNNABLE } from '../runs/run-states.js';
import type { Actor } from '../../access/actor.js';
import { ApiKeysService } from '../../api-keys/api-keys.service.js';
import { unavailable } from '../../platform/common/errors.js';
import { SessionsService } from '../../sessions/sessions.service.js';

/** Longest and first delay between two reads of a run; the first is short for short runs. */
const POLL_MILLIS = 500;
const FIRST_POLL_MILLIS = 20;

/** Clients that may watch runs at a time, in each process: each holds a connection, and reads its run twice a second. */
export const MAX_WATCHERS = 200;
/** How long a client may go on watching after its session or key has ended. */
const CHECK_MILLIS = 2000;
const RETRY_SECONDS = 10;

/** Watches runs, whichever instance works on them. */
@Injectable()
export class RunEvents implements BeforeApplicationShutdown {
  private stopping = false;
  /** Emits the id of a run that has stopped. The number of watchers is not limited. */
  private readonly stops = new EventEmitter().setMaxListeners(0);
  private forward: (id: string) => void = () => undefined;

  private watching = 0;

  constructor(
    private readonly runs: ImportRunsRepository,
    private readonly sessions: SessionsService,
    private readonly keys: ApiKeysService,
  ) {}

  /** Ends all watches: their runs no longer progress here, and an open answer would keep the process alive. */
  beforeApplicationShutdown(): void {
    this.stopping = true;
  }

  /** Makes the watchers in this process read a run at once, because its worker has stopped. */
  notify(id: string): void {
    this.stops.emit(id);
    this.forward(id);
  }

  /** Tells also another process, where the watchers are. */
  forwardTo(listener: (id: string) => void): void {
    this.forward = listener;
  }

  /** Yields the run now and after every change, until it ends, waits for an operator, or the service stops. */
  async *watch(id: string, signal?: AbortSignal): AsyncGenerator<ImportRun> {
    let last = '';
    let wait = FIRST_POLL_MILLIS;
    do {
      const stop = new AbortController();
      const onStop = (): void => {
        stop.abort();
      };
      this.stops.once(id, onStop); // before the read, so that no event is missed between the two
      try {
        const run = await this.runs.find(id);
        if (!run) return;
        const current = JSON.stringify(run);
        if (current !== last) yield run;
        last = current;
        if (!RUNNABLE.includes(run.state)) return;
        const wake = AbortSignal.any([stop.signal, ...(signal ? [signal] : [])]);
        await delay(wait, undefined, { signal: wake }).catch(() => undefined);
      } finally {
        this.stops.off(id, onStop);
      }
      wait = Math.min(wait * 1.5, POLL_MILLIS);
    } while (!signal?.aborted && !this.stopping);
  }

  /**
   * The run now and after every change, as `watch`; it ends with the session or key of the actor, too.
   * @param gone when the client leaves. @throws ProblemError `unavailable` with `Retry-After` where too many watch.
   */
  async *watchAs(id: string, actor: Actor, gone: AbortSignal): AsyncGenerator<ImportRun> {
    if (this.watching >= MAX_WATCHERS) {
      throw unavailable(`${MAX_WATCHERS} clients are watching imports; read the run itself.`, RETRY_SECONDS);
    }
    this.watching++;
    const ended = new AbortController();
    const timer = setInterval(() => {
      void this.isGood(actor).then((good) => {
        if (!good) ended.abort();
      });
    }, CHECK_MILLIS);
    try {
      yield* this.watch(id, AbortSignal.any([gone, ended.signal]));
    } finally {
      clearInterval(timer);
      this.watching--;
    }
  }

  /** While the database does not answer, a credential counts as good. */
  private async isGood(actor: Actor): Promise<boolean> {
    if (actor.kind === 'system') return true;
    const asked =
      actor.kind === 'user' ? this.sessions.isLive(actor.sessionId) : this.keys.isActive(actor.id);
    return asked.catch(() => true);
  }
}
