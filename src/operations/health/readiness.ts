import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { unavailable } from '../../platform/common/errors.js';
import { Env } from '../../platform/config/env.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import type { Writability } from '../../platform/database/engine/sql.js';

const FAULTS = {
  writable: undefined,
  read_only: 'takes no changes',
  out_of_sync: 'is not in step with its cluster',
} as const;

/** Whether this instance takes requests: its database takes changes, and it is not shutting down. */
@Injectable()
export class Readiness implements BeforeApplicationShutdown {
  /** Whether the process was asked to end. */
  ending = false;

  private asked: Promise<Writability> | undefined;

  constructor(
    @Inject(DATABASE) private readonly connection: Database,
    private readonly env: Env,
  ) {}

  /** Keeps serving for SHUTDOWN_DELAY_SECONDS while reporting not ready, so that a balancer stops sending requests. */
  async beforeApplicationShutdown(): Promise<void> {
    this.ending = true;
    await delay(this.env.SHUTDOWN_DELAY_SECONDS * 1000);
  }

  /** @throws ProblemError `unavailable` when the database does not answer, for any reason. */
  async assertDatabase(): Promise<void> {
    try {
      await this.connection.query('SELECT uuid FROM users LIMIT 1');
    } catch {
      throw unavailable('The database does not answer.');
    }
  }

  /** Returns why this instance takes no requests: a database that can only be read is a reason. */
  async findFaults(): Promise<string[]> {
    const database = await this.writability().then(
      (writability) => FAULTS[writability],
      () => 'does not answer',
    );
    return [
      ...(this.ending ? ['process is shutting down'] : []),
      ...(database === undefined ? [] : [`database ${database}`]),
    ];
  }

  /** Asks the database once at a time, however many probes there are. */
  private writability(): Promise<Writability> {
    this.asked ??= this.connection.writability().finally(() => {
      this.asked = undefined;
    });
    return this.asked;
  }
}
