import { Inject, Injectable } from '@nestjs/common';
import { type Actor, countedFor } from '../../access/actor.js';
import { ProblemError, unavailable } from '../../platform/common/errors.js';
import { Env } from '../../platform/config/env.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import { type EndTurn, NoTurn, SearchTurns } from './search-turns.js';

/** Broad searches of one actor at a time (interface §9). */
const PER_ACTOR = 2;
/** Those of one actor that may wait behind them: what a busy connector sends at once, and no more memory than that. */
const WAITING = 50;
/** How long a search waits for its turn, in multiples of the time that one may take. */
const PATIENCE = 5;

/** A search that has its turn: what it does, and what was broad about it if that takes too long. */
interface BroadSearch<T> {
  /** @param signal for all of its statements. */
  run: (signal: AbortSignal) => Promise<T>;
  /** Completes "…: make it longer or add an exact filter". */
  broadest: (signal: AbortSignal) => Promise<string>;
}

/**
 * What searches may take whose cost no key bounds: two at a time for one actor, in turns with those of others, each
 * stopped in the database after `SEARCH_TIMEOUT`, and at once when its client has left. On SQLite one runs at a time,
 * beside the thread that answers requests; a server runs as many as half of the connections carry.
 */
@Injectable()
export class SearchBudget {
  private readonly turns: SearchTurns;
  private readonly millis: number;

  constructor(
    { SEARCH_TIMEOUT, DATABASE_POOL_SIZE }: Env,
    @Inject(DATABASE) private readonly database: Database,
  ) {
    this.millis = SEARCH_TIMEOUT * 1000;
    this.turns = new SearchTurns({
      width: database.dialect === 'sqlite' ? 1 : Math.max(1, Math.floor(DATABASE_POOL_SIZE / 2)),
      perActor: PER_ACTOR,
      waiting: WAITING,
      patienceMillis: PATIENCE * this.millis,
    });
  }

  /**
   * @param gone aborts when the client has left.
   * @throws ProblemError `search_too_broad`; `rate_limited` where too many of the actor's own searches are under way,
   * `unavailable` where it is those of others; `request_timeout`, which nobody reads, when the client has left.
   */
  async run<T>(actor: Actor, gone: AbortSignal, search: BroadSearch<T>): Promise<T> {
    const end = await this.turn(actor, gone);
    try {
      return await this.limited(gone, search);
    } catch (error) {
      throw gone.aborted ? left() : error;
    } finally {
      end();
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

  private async turn(actor: Actor, gone: AbortSignal): Promise<EndTurn> {
    try {
      return await this.turns.take(countedFor(actor), gone);
    } catch (error) {
      if (gone.aborted) throw left();
      if (!(error instanceof NoTurn)) throw error;
      const seconds = Math.ceil(this.millis / 1000);
      if (!error.own) throw unavailable('The searches of others take all of the time.', seconds);
      throw new ProblemError(
        'rate_limited',
        `At most ${PER_ACTOR} broad searches run at a time, and ${WAITING} wait for up to ${PATIENCE * seconds} seconds.`,
        { headers: { 'Retry-After': String(seconds) } },
      );
    }
  }
}

const left = (): ProblemError => new ProblemError('request_timeout', 'The client has left.');
