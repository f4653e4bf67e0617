import { Module } from '@nestjs/common';
import { ApiKeysModule } from '../../api-keys/api-keys.module.js';
import { AuditModule } from '../../audit/audit.module.js';
import { IdempotencyModule } from '../../idempotency/idempotency.module.js';
import { ImportModule } from '../../import/import.module.js';
import { SessionsModule } from '../../sessions/sessions.module.js';
import { UsersModule } from '../../users/users.module.js';
import { FirstStart } from './first-start.service.js';
import { PurgeService } from './purge.service.js';

@Module({
  imports: [AuditModule, ApiKeysModule, IdempotencyModule, ImportModule, SessionsModule, UsersModule],
  providers: [FirstStart, PurgeService],
})
export class SetupModule {}
