import { type DynamicModule, Module } from '@nestjs/common';
import { ApiKeysModule } from './api-keys/api-keys.module.js';
import { AuditModule } from './audit/audit.module.js';
import { AuthModule } from './auth/auth.module.js';
import { ConfigModule, type LanePrograms } from './config/config.module.js';
import type { Env } from './config/env.js';
import { migrateAtStart } from './database/data-source.js';
import { DatabaseModule } from './database/database.module.js';
import { ENTITIES } from './entities.js';
import { HttpModule } from './http/http.module.js';
import { ImportModule } from './import/import.module.js';
import { SessionsModule } from './sessions/sessions.module.js';
import { SetupModule } from './setup/setup.module.js';
import { StatusModule } from './status/status.module.js';
import { TelemetryModule } from './telemetry/telemetry.module.js';
import { UsersModule } from './users/users.module.js';

/** Lists every feature. */
@Module({})
export class AppModule {
  /** @param programs of the processes beside this one; what has none runs in this one. */
  static with(env: Env, programs?: LanePrograms): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.with(env, programs),
        TelemetryModule,
        HttpModule,
        DatabaseModule.with((each) => migrateAtStart(each, ENTITIES)),
        ImportModule, // before the users: `users/export.csv` must not match `users/:user_id`
        AuthModule,
        UsersModule,
        SessionsModule,
        ApiKeysModule,
        AuditModule,
        StatusModule,
        SetupModule,
      ],
    };
  }
}
