import { Get, HttpCode, Param, Post } from '@nestjs/common';
import type { Caller } from '../access/actor.js';
import { CurrentCaller, Requires } from '../access/decorators.js';
import { Accepts, CheckedQuery } from '../platform/http/input.guard.js';
import { page } from '../platform/http/page.js';
import { IN_ANY_CASE } from '../platform/openapi/docs.js';
import { ApiController, Doc, describeJson } from '../platform/openapi/route-docs.js';
import { DeletedUsers } from './deleted-users.service.js';
import { UserSettings } from './rules/user-settings.js';
import { TAKEN_CODES } from './rules/failure.js';
import { DeletedPageDto, DeletedQuery, UserDto, presentDeleted, presentUser, viewFor } from './user.view.js';

@ApiController('users/deleted', 'users')
export class DeletedUsersController {
  constructor(private readonly deleted: DeletedUsers) {}

  @Get()
  @Doc('listDeletedUsers', 'Users that were deleted, in the order of their deletion', {
    description:
      'They are kept for SCIM_DELETED_DAYS days; `POST /users/{user_id}/restore` takes one back. Identity providers delete users; REST only blocks them.',
    answer: describeJson('A page of deleted users.', DeletedPageDto),
  })
  @Requires('users.deleted')
  @Accepts({ query: DeletedQuery })
  async list(@CheckedQuery() query: DeletedQuery): Promise<DeletedPageDto> {
    const { count, users } = await this.deleted.list(query.since, page(query));
    return { Count: count, Results: users.map(presentDeleted) };
  }
}

@ApiController('users/:user_id/restore', 'users')
export class UserRestoreController {
  constructor(
    private readonly deleted: DeletedUsers,
    private readonly settings: UserSettings,
  ) {}

  @Post()
  @Doc('restoreUser', 'Take back a deleted user', {
    description:
      'Within SCIM_DELETED_DAYS days: with the same uuid, password and own roles, without groups, sessions and reports. ' +
      'Where another user has one of the names by now, nothing happens, and the conflict says whose it is.',
    id: IN_ANY_CASE,
    answer: describeJson('The user.', UserDto),
    errors: TAKEN_CODES,
  })
  @HttpCode(200)
  @Requires('users.create')
  async restore(@Param('user_id') uuid: string, @CurrentCaller() caller: Caller): Promise<UserDto> {
    const user = await this.deleted.restore(uuid, caller);
    return presentUser(user, viewFor(caller.actor, user.uuid), this.settings.defaultAvatar);
  }
}
