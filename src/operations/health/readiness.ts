import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { createUnavailableError } from '../../platform/common/errors.js';
import { Env } from '../../platform/config/env.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import type { WriteState } from '../../platform/database/engine/sql.js';

const FAULTS = {
  writable: undefined,
  read_only: 'is read-only',
  out_of_sync: 'is out of sync with its cluster',
} as const;

/** Determines if this instance is ready: its database must be writable, and the process must not be shutting down. */
@Injectable()
export class Readiness implements BeforeApplicationShutdown {
  ending = false;

  private pendingQuery: Promise<WriteState> | undefined;

  constructor(
    @Inject(DATABASE) private readonly connection: Database,
    private readonly env: Env,
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

  async findFaults(): Promise<string[]> {
    const database = await this.queryWritability().then(
      (state) => FAULTS[state],
      () => 'does not answer',
    );
    return [
      ...(this.ending ? ['process is shutting down'] : []),
      ...(database === undefined ? [] : [`database ${database}`]),
    ];
  }

  /** Queries whether the database is writable. Concurrent probes share one query. */
  private queryWritability(): Promise<WriteState> {
    this.pendingQuery ??= this.connection.checkWriteState().finally(() => {
      this.pendingQuery = undefined;
    });
    return this.pendingQuery;
  }
}
