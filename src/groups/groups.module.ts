import { Module } from '@nestjs/common';
import { AuditNames } from '../audit/audit-names.service.js';
import { AuditModule } from '../audit/audit.module.js';
import { UsersModule } from '../users/users.module.js';
import { GroupMembers } from './group-members.service.js';
import { GroupRepository } from './group.repository.js';
import { GroupSearch } from './group-search.service.js';
import { GroupWriter } from './group-writer.service.js';
import { GroupsController } from './groups.controller.js';
import { GroupsService } from './groups.service.js';

@Module({
  imports: [AuditModule, UsersModule],
  controllers: [GroupsController],
  providers: [GroupsService, GroupSearch, GroupWriter, GroupMembers, GroupRepository],
  exports: [GroupsService, GroupSearch, GroupMembers],
})
export class GroupsModule {
  constructor(names: AuditNames) {
    names.register(['group'], { table: 'user_groups', id: 'uuid', name: 'display_name' });
  }
}
