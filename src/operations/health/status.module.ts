import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { ApiKeysModule } from '../../api-keys/api-keys.module.js';
import { AuditModule } from '../../audit/audit.module.js';
import { ImportModule } from '../../import/import.module.js';
import { UsersModule } from '../../users/users.module.js';
import { HealthController } from './health.controller.js';
import { MetricsController } from './metrics.controller.js';
import { FrontController } from './front.controller.js';
import { GuidesController } from './guides.controller.js';
import { Gauges } from './gauges.js';
import { Readiness } from './readiness.js';
import { ProblemsController } from './problems.controller.js';
import { StatisticsController } from './statistics.controller.js';
import { StatisticsService } from './statistics.service.js';
import { StatusController } from './status.controller.js';

@Module({
  imports: [ApiKeysModule, AuditModule, ImportModule, UsersModule, TerminusModule.forRoot({ logger: false })],
  controllers: [
    StatusController,
    StatisticsController,
    HealthController,
    MetricsController,
    ProblemsController,
    FrontController,
    GuidesController,
  ],
  providers: [Readiness, Gauges, StatisticsService],
})
export class StatusModule {}
