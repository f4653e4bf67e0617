import { type BeforeApplicationShutdown, Injectable, type OnModuleInit } from '@nestjs/common';
import { AuditService } from '../../audit/audit.service.js';
import { createFaultLogger } from '../../platform/http/problem.js';
import { Log } from '../../platform/telemetry/log.js';
import { ImportsService } from '../../import/imports.service.js';
import { KeyFuse } from '../../api-keys/fuse/key-fuse.service.js';
import { LoginThrottle } from '../../sessions/login-throttle.service.js';
import { SessionsService } from '../../sessions/sessions.service.js';
import { DeletedUsers } from '../../users/deleted-users.service.js';
import { IdempotencyService } from '../../idempotency/idempotency.service.js';

const INTERVAL_MILLIS = 15 * 60 * 1000;

/** Deletes expired rows every 15 minutes, on every instance. */
@Injectable()
export class PurgeService implements OnModuleInit, BeforeApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private busy: Promise<void> | undefined;

  constructor(
    private readonly sessions: SessionsService,
    private readonly throttle: LoginThrottle,
    private readonly fuse: KeyFuse,
    private readonly idempotency: IdempotencyService,
    private readonly imports: ImportsService,
    private readonly deletedUsers: DeletedUsers,
    private readonly audit: AuditService,
    private readonly log: Log,
  ) {}

  onModuleInit(): void {
    this.timer = setInterval(() => {
      this.busy = this.purgeAll().catch(createFaultLogger(this.log, 'purge'));
    }, INTERVAL_MILLIS).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.busy;
  }

  async purgeAll(): Promise<void> {
    const { sessions, throttle, fuse, idempotency, imports, deletedUsers, audit } = this;
    for (const each of [sessions, throttle, fuse, idempotency, imports, deletedUsers, audit])
      await each.purge();
  }
}
