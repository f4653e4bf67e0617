import { Inject, Injectable } from '@nestjs/common';
import { type Actor, countedFor } from '../../access/actor.js';
import { ProblemError, unavailable } from '../../platform/common/errors.js';
import { Env } from '../../platform/config/env.js';
import { FairSemaphore, NoSlotError } from '../../platform/common/fair-semaphore.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';

/** Broad searches of one actor at a time (interface §9). */
const PER_ACTOR = 2;
/** Broad searches of one actor that may wait: what a busy connector sends at once, and no more memory than that. */
const WAITING = 50;
/** How long a search waits for its slot, in multiples of the time that one may take. */
const PATIENCE = 5;

/** A search that has its slot: what it does, and what was broad about it if that takes too long. */
interface BroadSearch<T> {
  /** @param signal for all of its statements. */
  run: (signal: AbortSignal) => Promise<T>;
  /** Completes "…: make it longer or add an exact filter". */
  broadest: (signal: AbortSignal) => Promise<string>;
}

/**
 * What searches may take whose cost no key bounds: two at a time for one actor, in turn with those of other actors, each
 * stopped in the database after `SEARCH_TIMEOUT`, and at once when its client has left. On SQLite one runs at a time,
 * beside the thread that answers requests; a server runs as many as half of the connections carry.
 */
@Injectable()
export class SearchBudget {
  private readonly slots: FairSemaphore;
  private readonly millis: number;

  constructor(
    { SEARCH_TIMEOUT, DATABASE_POOL_SIZE }: Env,
    @Inject(DATABASE) private readonly database: Database,
  ) {
    this.millis = SEARCH_TIMEOUT * 1000;
    this.slots = new FairSemaphore({
      slots: database.dialect === 'sqlite' ? 1 : Math.max(1, Math.floor(DATABASE_POOL_SIZE / 2)),
      slotsPerKey: PER_ACTOR,
      waitingPerKey: WAITING,
      waitMillis: PATIENCE * this.millis,
    });
  }

  /**
   * @param gone aborts when the client has left.
   * @throws ProblemError `search_too_broad`; `rate_limited` where too many of the actor's own searches are under way,
   * `unavailable` where it is those of others; `request_timeout`, which nobody reads, when the client has left.
   */
  async run<T>(actor: Actor, gone: AbortSignal, search: BroadSearch<T>): Promise<T> {
    try {
      return await this.slots.run([countedFor(actor)], () => this.limited(gone, search), gone);
    } catch (error) {
      if (gone.aborted) throw new ProblemError('request_timeout', 'The client has left.');
      throw error instanceof NoSlotError ? this.refusal(error) : error;
    }
  }

  private async limited<T>(gone: AbortSignal, { run, broadest }: BroadSearch<T>): Promise<T> {
    await this.ready(gone);
    const timeout = AbortSignal.timeout(this.millis);
    try {
      return await run(AbortSignal.any([gone, timeout]));
    } catch (error) {
      if (gone.aborted || !timeout.aborted) throw error;
      await this.ready(gone);
      const asking = AbortSignal.any([gone, AbortSignal.timeout(this.millis)]);
      const name = await broadest(asking).catch(() => 'what it asks for');
      throw new ProblemError(
        'search_too_broad',
        `The search was stopped after ${this.millis / 1000} seconds: ${name} matches too many users. Make it longer, or add an exact filter.`,
      );
    }
  }

  /** The process that reads on SQLite was stopped with the search before, or has not been needed yet: it starts first. */
  private async ready(gone: AbortSignal): Promise<void> {
    if (this.database.dialect === 'sqlite') await this.database.aside('SELECT 1 AS ready', [], gone);
  }

  private refusal({ isOwn }: NoSlotError): ProblemError {
    const seconds = Math.ceil(this.millis / 1000);
    if (!isOwn) return unavailable('The searches of others take all of the time.', seconds);
    return new ProblemError(
      'rate_limited',
      `At most ${PER_ACTOR} broad searches run at a time, and ${WAITING} wait for up to ${PATIENCE * seconds} seconds.`,
      { headers: { 'Retry-After': String(seconds) } },
    );
  }
}
