import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { setTimeout as delay } from 'node:timers/promises';
import { Env } from '../config/env.js';
import { StatusService } from './status.service.js';

/** Whether this instance takes requests: its database answers, and nobody has told it to end. */
@Injectable()
export class Readiness implements BeforeApplicationShutdown {
  private isEnding = false;

  constructor(
    private readonly status: StatusService,
    private readonly indicators: HealthIndicatorService,
    private readonly env: Env,
  ) {}

  /** Whether somebody has told the process to end. */
  get ending(): boolean {
    return this.isEnding;
  }

  /** For a while everything goes on but this: a balancer sees it and sends nothing more. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isEnding = true;
    await delay(this.env.SHUTDOWN_DELAY_SECONDS * 1000);
  }

  async database(): Promise<HealthIndicatorResult> {
    const indicator = this.indicators.check('database');
    return this.status.assertDatabase().then(
      () => indicator.up(),
      () => indicator.down(),
    );
  }

  process(): HealthIndicatorResult {
    const indicator = this.indicators.check('process');
    return this.isEnding ? indicator.down({ message: 'shutting down' }) : indicator.up();
  }
}
