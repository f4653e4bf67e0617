import { Module } from '@nestjs/common';
import { ApiKeysModule } from '../api-keys/api-keys.module.js';
import { AuditNames } from '../audit/audit-names.service.js';
import { AuditModule } from '../audit/audit.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { AvatarController } from './avatar.controller.js';
import { NewPasswords } from './passwords/new-passwords.service.js';
import { PasswordService } from './passwords/password.service.js';
import { UserCounts } from './writer/user-counts.service.js';
import { DeletedUsers } from './deleted-users.service.js';
import { RolesController } from './roles.controller.js';
import { ReleasedUsernames } from './writer/released-usernames.repository.js';
import { DeletedUsersRepository } from './writer/deleted-users.repository.js';
import { UserDirectory } from './search/user-directory.service.js';
import { SearchBudget } from './search/search-budget.service.js';
import { UserPages } from './search/user-pages.service.js';
import { UserWriteRepository } from './writer/user-write.repository.js';
import { UserSearch } from './search/user-search.service.js';
import { UserSettings } from './rules/user-settings.js';
import { UserChangeQueue } from './writer/user-change-queue.service.js';
import { UserChangeStore } from './writer/user-change-store.service.js';
import { UserWriter } from './writer/user-writer.service.js';
import { UserSessionsController } from './user-sessions.controller.js';
import { UsersController } from './users.controller.js';
import { UserRecords } from './search/user-records.service.js';
import { UsersService } from './users.service.js';

@Module({
  imports: [AuditModule, SessionsModule, ApiKeysModule],
  // List controllers with fixed paths before the controller of `users/:user_id`, which would match their paths.
  controllers: [UsersController, UserSessionsController, AvatarController, RolesController],
  providers: [
    UsersService,
    UserSearch,
    SearchBudget,
    UserPages,
    UserWriter,
    UserChangeQueue,
    UserCounts,
    UserDirectory,
    UserChangeStore,
    UserSettings,
    PasswordService,
    NewPasswords,
    UserRecords,
    UserWriteRepository,
    DeletedUsers,
    DeletedUsersRepository,
    ReleasedUsernames,
  ],
  exports: [
    DeletedUsers,
    UsersService,
    UserSearch,
    SearchBudget,
    UserPages,
    UserCounts,
    UserWriter,
    UserChangeQueue,
    UserDirectory,
    UserRecords,
    UserSettings,
    PasswordService,
    NewPasswords,
  ],
})
export class UsersModule {
  constructor(names: AuditNames) {
    names.register(['user'], { table: 'users', id: 'uuid', name: 'username' });
  }
}
