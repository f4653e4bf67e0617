import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { ImportRunsRepository } from '../runs/import-runs.repository.js';
import type { ImportRun } from '../runs/import-run.js';
import { RUNNABLE } from '../runs/run-states.js';
import type { Actor } from '../../access/actor.js';
import { ApiKeysService } from '../../api-keys/api-keys.service.js';
import { createUnavailableError } from '../../platform/common/errors.js';
import { SessionsService } from '../../sessions/sessions.service.js';

const POLL_MILLIS = 500;
/** First delay between two reads of a watched run. It is short, because many runs take only a moment. */
const FIRST_POLL_MILLIS = 20;

/** Maximum number of clients that watch runs in one process. Each client holds a connection and reads a run twice a second. */
export const MAX_WATCHERS = 200;
/** Interval between checks of the session or key of a watching client. */
const CHECK_MILLIS = 2000;
const RETRY_SECONDS = 10;

/**
 * Progress events of runs for clients that watch them. A client can watch a run on any instance, even if another
 * instance executes the run.
 */
@Injectable()
export class RunEvents implements BeforeApplicationShutdown {
  private stopping = false;
  /** Emits an event when the worker stops executing a run. The name of the event is the id of the run. */
  private readonly stopEvents = new EventEmitter().setMaxListeners(0);
  /** Called for each notification. The import worker uses it to notify the process that serves the clients. */
  listener: (id: string) => void = () => undefined;

  private watcherCount = 0;

  constructor(
    private readonly runs: ImportRunsRepository,
    private readonly sessions: SessionsService,
    private readonly keys: ApiKeysService,
  ) {}

  /** Ends all event streams, because an open response would keep the process alive. */
  beforeApplicationShutdown(): void {
    this.stopping = true;
  }

  /** Makes all watchers of a run read it immediately. Call this when the worker stops executing the run. */
  notify(id: string): void {
    this.stopEvents.emit(id);
    this.listener(id);
  }

  /** Yields the run now and after every change, until the run ends or waits for an operator, or the service stops. */
  async *watch(id: string, signal?: AbortSignal): AsyncGenerator<ImportRun> {
    let last = '';
    let wait = FIRST_POLL_MILLIS;
    do {
      const stop = new AbortController();
      const onStop = stop.abort.bind(stop);
      // Listen before the read, so that no event is missed.
      this.stopEvents.once(id, onStop);
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
        this.stopEvents.off(id, onStop);
      }
      wait = Math.min(wait * 1.5, POLL_MILLIS);
    } while (!signal?.aborted && !this.stopping);
  }

  /**
   * Yields the same as `watch`, but also stops when the session or key of the actor ends.
   * @param disconnected aborted when the client disconnects.
   * @throws ProblemError `unavailable` with `Retry-After` if too many clients watch runs.
   */
  async *watchWhileAuthorized(
    id: string,
    actor: Actor,
    disconnected: AbortSignal,
  ): AsyncGenerator<ImportRun> {
    if (this.watcherCount >= MAX_WATCHERS) {
      const detail = `${MAX_WATCHERS} clients are already watching runs. Try again later, or poll the run.`;
      throw createUnavailableError(detail, RETRY_SECONDS);
    }
    this.watcherCount++;
    const ended = new AbortController();
    const timer = setInterval(() => {
      void this.isCredentialValid(actor).then((valid) => {
        if (!valid) ended.abort();
      });
    }, CHECK_MILLIS);
    try {
      yield* this.watch(id, AbortSignal.any([disconnected, ended.signal]));
    } finally {
      clearInterval(timer);
      this.watcherCount--;
    }
  }

  /** Returns false if the session or key of an actor has ended. Returns true if the database does not respond. */
  private async isCredentialValid(actor: Actor): Promise<boolean> {
    if (actor.kind === 'system') return true;
    const valid =
      actor.kind === 'user'
        ? this.sessions.isLive(actor.sessionId)
        : this.keys.findActor(actor.id).then(Boolean);
    return valid.catch(() => true);
  }
}
