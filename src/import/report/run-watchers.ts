import { Injectable } from '@nestjs/common';
import type { Actor } from '../../access/actor.js';
import { ApiKeysService } from '../../api-keys/api-keys.service.js';
import { unavailable } from '../../platform/common/errors.js';
import { SessionsService } from '../../sessions/sessions.service.js';
import type { ImportRun } from '../runs/import-run.js';
import { RunEvents } from './run-events.js';

/** Clients that may watch runs at a time, in each process: each holds a connection, and reads its run twice a second. */
export const MAX_WATCHERS = 200;
/** How long a client may go on watching after its session or key has ended. */
const CHECK_MILLIS = 2000;
const RETRY_SECONDS = 10;

/** The clients that watch runs: not too many, and none longer than its credential is good. */
@Injectable()
export class RunWatchers {
  private watching = 0;

  constructor(
    private readonly events: RunEvents,
    private readonly sessions: SessionsService,
    private readonly keys: ApiKeysService,
  ) {}

  /**
   * The run now and after every change, as `RunEvents.watch`; it ends with the session or key of the actor, too.
   * @param gone when the client leaves. @throws ProblemError `unavailable` with `Retry-After` where too many watch.
   */
  async *watch(id: string, actor: Actor, gone: AbortSignal): AsyncGenerator<ImportRun> {
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
      yield* this.events.watch(id, AbortSignal.any([gone, ended.signal]));
    } finally {
      clearInterval(timer);
      this.watching--;
    }
  }

  /** A database that does not answer now says nothing of a credential. */
  private async isGood(actor: Actor): Promise<boolean> {
    if (actor.kind === 'system') return true;
    const asked =
      actor.kind === 'user' ? this.sessions.isLive(actor.sessionId) : this.keys.isActive(actor.id ?? '');
    return asked.catch(() => true);
  }
}
