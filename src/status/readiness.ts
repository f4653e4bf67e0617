import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { setTimeout as delay } from 'node:timers/promises';
import { unavailable } from '../common/errors.js';
import { Env } from '../config/env.js';
import { DATABASE, type Database } from '../database/engine/database.js';

/** Whether this instance takes requests: its database answers, and it is not shutting down. */
@Injectable()
export class Readiness implements BeforeApplicationShutdown {
  /** Whether the process was asked to end. */
  ending = false;

  constructor(
    @Inject(DATABASE) private readonly connection: Database,
    private readonly indicators: HealthIndicatorService,
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
      await this.connection.query('SELECT changes FROM user_rules LIMIT 1');
    } catch {
      throw unavailable('The database does not answer.');
    }
  }

  async database(): Promise<HealthIndicatorResult> {
    const indicator = this.indicators.check('database');
    return this.assertDatabase().then(
      () => indicator.up(),
      () => indicator.down(),
    );
  }

  process(): HealthIndicatorResult {
    const indicator = this.indicators.check('process');
    return this.ending ? indicator.down({ message: 'shutting down' }) : indicator.up();
  }
}
