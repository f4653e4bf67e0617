import { Module } from '@nestjs/common';
import { ApiKeysModule } from '../api-keys/api-keys.module.js';
import { AuditModule } from '../audit/audit.module.js';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { ImportModule } from '../import/import.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { UsersModule } from '../users/users.module.js';
import { Gauges } from './health/gauges.js';
import { HealthController, StatusController } from './health/health.controller.js';
import { MetricsController } from './health/metrics.controller.js';
import { PagesController } from './health/pages.controller.js';
import { Readiness } from './health/readiness.js';
import { StatisticsController } from './health/statistics.controller.js';
import { StatisticsService } from './health/statistics.service.js';
import { FirstStart } from './start/first-start.service.js';
import { PurgeService } from './start/purge.service.js';

@Module({
  imports: [ApiKeysModule, AuditModule, IdempotencyModule, ImportModule, SessionsModule, UsersModule],
  controllers: [StatusController, StatisticsController, HealthController, MetricsController, PagesController],
  providers: [Readiness, Gauges, StatisticsService, FirstStart, PurgeService],
})
export class OperationsModule {}
