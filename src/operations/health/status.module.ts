import { Module } from '@nestjs/common';
import { ApiKeysModule } from '../../api-keys/api-keys.module.js';
import { AuditModule } from '../../audit/audit.module.js';
import { ImportModule } from '../../import/import.module.js';
import { UsersModule } from '../../users/users.module.js';
import { HealthController } from './health.controller.js';
import { MetricsController } from './metrics.controller.js';
import { Gauges } from './gauges.js';
import { Readiness } from './readiness.js';
import { PagesController } from './pages.controller.js';
import { StatisticsController } from './statistics.controller.js';
import { StatisticsService } from './statistics.service.js';
import { StatusController } from './status.controller.js';

@Module({
  imports: [ApiKeysModule, AuditModule, ImportModule, UsersModule],
  controllers: [StatusController, StatisticsController, HealthController, MetricsController, PagesController],
  providers: [Readiness, Gauges, StatisticsService],
})
export class StatusModule {}
