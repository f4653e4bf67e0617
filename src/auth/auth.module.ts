import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { ApiKeysModule } from '../api-keys/api-keys.module.js';
import { IdempotencyGuard } from '../idempotency/idempotency.guard.js';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { HttpModule } from '../platform/http/http.module.js';
import { InputGuard } from '../platform/http/input.guard.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { UsersModule } from '../users/users.module.js';
import { AccessGuard, PermissionGuard, RateLimit, SameSite } from './access.guard.js';
import { ApiKeyStrategy, BearerStrategy, SessionStrategy, LocalStrategy } from './credentials.strategy.js';
import { LoginService } from './login.service.js';

/**
 * Registers the global guards in the order in which they run. They check the credentials, the syntax of the request and
 * the permission (interface §1), and look for a stored response.
 */
@Module({
  imports: [ApiKeysModule, HttpModule, IdempotencyModule, SessionsModule, UsersModule],
  providers: [
    { provide: APP_GUARD, useClass: AccessGuard },
    { provide: APP_GUARD, useClass: InputGuard },
    { provide: APP_GUARD, useClass: PermissionGuard },
    { provide: APP_GUARD, useClass: IdempotencyGuard },
    ApiKeyStrategy,
    BearerStrategy,
    LocalStrategy,
    SessionStrategy,
    LoginService,
    RateLimit,
    SameSite,
  ],
})
export class AuthModule {}
