import { Inject, Injectable } from '@nestjs/common';
import { type Actor, getUsageKey } from '../../access/actor.js';
import { ProblemError, createUnavailableError } from '../../platform/common/errors.js';
import { Env } from '../../platform/config/env.js';
import { FairSemaphore, NoSlotError } from '../../platform/common/fair-semaphore.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';

/** Maximum number of broad searches that one actor can run at the same time (interface §9). */
const MAX_RUNNING = 2;
/** Maximum number of broad searches of one actor that wait for a slot, enough for a busy connector. */
const MAX_WAITING = 50;
/** Maximum time that a search waits for a slot, as a multiple of `SEARCH_TIMEOUT`. */
const WAIT_TIMEOUTS = 5;

interface BroadSearch<T> {
  /** Runs the search. @param signal stops all statements of the search when it aborts. */
  run: (signal: AbortSignal) => Promise<T>;
  /** Returns the name of the word or parameter that matches the most users, for the error after a timeout. */
  findBroadestPart: (signal: AbortSignal) => Promise<string>;
}

/**
 * Limits broad searches, whose cost is not limited by an index. Each actor can run two of them at a time, and waiting
 * actors are served in turn. A search stops after `SEARCH_TIMEOUT`, or when its client disconnects. With SQLite, only
 * one broad search runs at a time, in the read worker. With MariaDB and MySQL, broad searches use at most half of the
 * connections.
 */
@Injectable()
export class SearchBudget {
  private readonly millis = this.env.SEARCH_TIMEOUT * 1000;
  private readonly slots = new FairSemaphore({
    slots: this.database.dialect === 'sqlite' ? 1 : Math.max(1, Math.floor(this.env.DATABASE_POOL_SIZE / 2)),
    slotsPerKey: MAX_RUNNING,
    waitingPerKey: MAX_WAITING,
    waitMillis: WAIT_TIMEOUTS * this.millis,
  });

  constructor(
    private readonly env: Env,
    @Inject(DATABASE) private readonly database: Database,
  ) {}

  /**
   * Runs a broad search as soon as a slot is free.
   * @param disconnect aborts when the client disconnects.
   * @throws ProblemError `search_too_broad` after a timeout, `rate_limited` if the actor already has too many searches,
   * `unavailable` if other actors have too many searches, `request_timeout` after a disconnect.
   */
  async run<T>(actor: Actor, disconnect: AbortSignal, search: BroadSearch<T>): Promise<T> {
    try {
      return await this.slots.run([getUsageKey(actor)], () => this.runInSlot(disconnect, search), disconnect);
    } catch (error) {
      if (disconnect.aborted) throw new ProblemError('request_timeout', 'The client disconnected.');
      throw error instanceof NoSlotError ? this.createNoSlotProblem(error) : error;
    }
  }

  private async runInSlot<T>(disconnect: AbortSignal, search: BroadSearch<T>): Promise<T> {
    await this.waitForReadWorker(disconnect);
    const timeout = AbortSignal.timeout(this.millis);
    try {
      return await search.run(AbortSignal.any([disconnect, timeout]));
    } catch (error) {
      if (disconnect.aborted || !timeout.aborted) throw error;
      await this.waitForReadWorker(disconnect);
      const signal = AbortSignal.any([disconnect, AbortSignal.timeout(this.millis)]);
      const name = await search.findBroadestPart(signal).catch(() => 'the search term');
      const detail = `The search was stopped after ${this.millis / 1000} seconds, because ${name} matches too many users. Use a longer search term or add an exact filter.`;
      throw new ProblemError('search_too_broad', detail);
    }
  }

  /**
   * Waits until the read worker of SQLite is running again, because stopping a search also stops the worker. The
   * timeout of the search starts afterwards.
   */
  private async waitForReadWorker(disconnect: AbortSignal): Promise<void> {
    if (this.database.dialect === 'sqlite') await this.database.scan('SELECT 1 AS ready', [], disconnect);
  }

  private createNoSlotProblem({ isOwn }: NoSlotError): ProblemError {
    const seconds = Math.ceil(this.millis / 1000);
    if (!isOwn)
      return createUnavailableError('Too many other users are searching. Try again later.', seconds);
    const detail = `Too many broad searches are running. At most ${MAX_RUNNING} run at a time, and ${MAX_WAITING} wait for up to ${WAIT_TIMEOUTS * seconds} seconds. Try again later.`;
    return new ProblemError('rate_limited', detail, { headers: { 'Retry-After': String(seconds) } });
  }
}
