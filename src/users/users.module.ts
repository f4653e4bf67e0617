import { Module } from '@nestjs/common';
import { ApiKeysModule } from '../api-keys/api-keys.module.js';
import { AuditModule } from '../audit/audit.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { AvatarController } from './avatar.controller.js';
import { IdempotencyRepository } from './idempotency.repository.js';
import { IdempotencyService } from './idempotency.service.js';
import { OwnPassword } from './own-password.js';
import { PasswordService } from './password.service.js';
import { UserDirectory } from './user-directory.js';
import { UserDirectoryRepository } from './user-directory.repository.js';
import { UserSearchRepository } from './user-search.repository.js';
import { UserWriteRepository } from './user-write.repository.js';
import { UserSearch } from './user.search.js';
import { UserSettings } from './user.settings.js';
import { UserStore } from './user.store.js';
import { UserWriter } from './user.writer.js';
import { UserHistoryController } from './user-history.controller.js';
import { UserHistory } from './user.history.js';
import { UserSessionsController } from './user-sessions.controller.js';
import { UserWalks } from './user.walks.js';
import { UsersController } from './users.controller.js';
import { UsersRepository } from './users.repository.js';
import { UsersService } from './users.service.js';

@Module({
  imports: [AuditModule, SessionsModule, ApiKeysModule],
  controllers: [UsersController, UserSessionsController, UserHistoryController, AvatarController],
  providers: [
    UsersService,
    UserSearch,
    UserWalks,
    UserWriter,
    UserDirectory,
    UserHistory,
    UserStore,
    UserSettings,
    PasswordService,
    OwnPassword,
    IdempotencyService,
    UsersRepository,
    UserSearchRepository,
    UserDirectoryRepository,
    UserWriteRepository,
    IdempotencyRepository,
  ],
  exports: [UsersService, UserWriter, UserDirectory, UserSettings, PasswordService, IdempotencyService],
})
export class UsersModule {}
