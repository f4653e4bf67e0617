import { Module } from '@nestjs/common';
import { ApiKeysModule } from '../api-keys/api-keys.module.js';
import { ErrorFilter } from '../platform/http/error.filter.js';
import { HttpModule } from '../platform/http/http.module.js';
import { UsersModule } from '../users/users.module.js';
import { BulkController } from './bulk/bulk.controller.js';
import { BulkRunner } from './bulk/bulk-runner.service.js';
import { BulkSets } from './bulk/bulk-sets.service.js';
import { DiscoveryController } from './discovery/discovery.controller.js';
import { Resources } from './discovery/resources.js';
import { GroupsModule } from '../groups/groups.module.js';
import { ScimGroupList } from './groups/scim-group-list.service.js';
import { ScimGroupsController } from './groups/scim-groups.controller.js';
import { ScimGroups } from './groups/scim-groups.service.js';
import { SCIM_ERRORS } from './http/scim-format.js';
import { ScimSearch } from './scim-search.service.js';
import { SearchController } from './search.controller.js';
import { ScimUserChanges } from './users/scim-user-changes.service.js';
import { ScimUserList } from './users/scim-user-list.service.js';
import { ScimUsersController } from './users/scim-users.controller.js';
import { ScimUsers } from './users/scim-users.service.js';

/**
 * The SCIM 2.0 interface, through which identity providers create, find, change and delete users and groups (ADR 24).
 */
@Module({
  imports: [ApiKeysModule, GroupsModule, HttpModule, UsersModule],
  controllers: [
    DiscoveryController,
    BulkController,
    SearchController,
    ScimUsersController,
    ScimGroupsController,
  ],
  providers: [
    Resources,
    ScimUsers,
    ScimUserChanges,
    ScimUserList,
    ScimSearch,
    ScimGroups,
    ScimGroupList,
    BulkRunner,
    BulkSets,
  ],
})
export class ScimModule {
  constructor(errors: ErrorFilter) {
    errors.formats.push(SCIM_ERRORS);
  }
}
