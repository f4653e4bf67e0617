import { type DynamicModule, Module } from '@nestjs/common';
import { ApiKeysModule } from './api-keys/api-keys.module.js';
import { AuditModule } from './audit/audit.module.js';
import { AuthModule } from './auth/auth.module.js';
import { ConfigModule, type WorkerPrograms } from './platform/config/config.module.js';
import type { Env } from './platform/config/env.js';
import { ConsoleModule } from './console/console.module.js';
import { DatabaseModule } from './platform/database/database.module.js';
import type { WriteLock } from './platform/database/sqlite/write-lock.js';
import { HttpModule } from './platform/http/http.module.js';
import { ImportModule } from './import/import.module.js';
import { ScimModule } from './scim/scim.module.js';
import { SessionsModule } from './sessions/sessions.module.js';
import { OperationsModule } from './operations/operations.module.js';
import { TelemetryModule } from './platform/telemetry/telemetry.module.js';
import { UsersModule } from './users/users.module.js';

/** Root module. Load it after `migrateAtStart` has migrated the schema. */
@Module({})
export class AppModule {
  /** @param programs paths of the worker programs. If a path is missing, this process does the work of that program. */
  static forRoot(env: Env, programs?: WorkerPrograms, lock?: WriteLock): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.forRoot(env, programs),
        TelemetryModule,
        HttpModule,
        DatabaseModule.forRoot(lock),
        ImportModule,
        AuthModule,
        UsersModule,
        ScimModule,
        SessionsModule,
        ApiKeysModule,
        AuditModule,
        OperationsModule,
        ...(env.CONSOLE_ENABLED ? [ConsoleModule] : []),
      ],
    };
  }
}
