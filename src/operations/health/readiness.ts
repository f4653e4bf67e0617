import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { createUnavailableError } from '../../platform/common/errors.js';
import { Env } from '../../platform/config/env.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import { toWriteState } from '../../platform/database/engine/database-error.js';
import type { UnwritableState, WriteState } from '../../platform/database/engine/sql.js';
import { Log } from '../../platform/telemetry/log.js';

/** Texts of the reasons for which an instance is not ready. */
export const NOT_READY = {
  shutting_down: 'process is shutting down',
  read_only: 'database is read-only',
  out_of_sync: 'database is out of sync with its cluster',
  denied: 'database refuses the password or a privilege',
  full: 'database has no free disk space',
  disk_error: 'database cannot read or write its disk',
  replaced: 'the files of the database were replaced (see the log)',
  damaged: 'database is damaged (run "rollcall doctor", then restore a backup with "rollcall restore")',
  locked: 'database is locked by other changes',
  away: 'database does not answer',
} as const satisfies Record<'shutting_down' | UnwritableState, string>;

/** Determines if this instance is ready: a write must succeed now, and the process must not be shutting down. */
@Injectable()
export class Readiness implements BeforeApplicationShutdown {
  ending = false;

  private pendingQuery: Promise<WriteState> | undefined;
  private loggedReasons = '';

  constructor(
    @Inject(DATABASE) private readonly connection: Database,
    private readonly env: Env,
    private readonly log: Log,
  ) {}

  /** Serves requests for another SHUTDOWN_DELAY_SECONDS but reports not ready, so that a load balancer stops sending requests. */
  async beforeApplicationShutdown(): Promise<void> {
    this.ending = true;
    await delay(this.env.SHUTDOWN_DELAY_SECONDS * 1000);
  }

  /** Checks that the database answers. @throws ProblemError `unavailable` if it does not. */
  async assertDatabaseAnswers(): Promise<void> {
    try {
      await this.connection.query('SELECT uuid FROM users LIMIT 1');
    } catch {
      throw createUnavailableError('The database does not answer.');
    }
  }

  /** Finds the reasons for which this instance is not ready, and logs each change of the reasons. */
  async findReasons(): Promise<(keyof typeof NOT_READY)[]> {
    const state = await this.queryWriteState();
    const shutdown = this.ending ? (['shutting_down'] as const) : [];
    const found = state === 'writable' ? [...shutdown] : [...shutdown, state];
    const reasons = found.join(', ');
    if (reasons !== this.loggedReasons)
      this.log.warn(reasons === '' ? 'ready again' : 'not ready', { reasons });
    this.loggedReasons = reasons;
    return found;
  }

  /** Queries whether a write would succeed. Concurrent probes share one query. */
  private queryWriteState(): Promise<WriteState> {
    this.pendingQuery ??= this.connection
      .checkWriteState()
      .catch(toWriteState)
      .finally(() => (this.pendingQuery = undefined));
    return this.pendingQuery;
  }
}
