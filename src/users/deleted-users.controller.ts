import { Get, HttpCode, Param, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { Caller } from '../access/actor.js';
import { CurrentCaller, Requires } from '../access/decorators.js';
import { Accepts, CheckedQuery } from '../platform/http/input.guard.js';
import { toPageRange } from '../platform/http/page.js';
import { abortOnDisconnect } from '../platform/http/stream.js';
import { CASE_INSENSITIVE } from '../platform/openapi/shared-schemas.js';
import { ApiController, DescribeRoute, describeJson } from '../platform/openapi/route-docs.js';
import { DeletedUsers } from './deleted-users.service.js';
import { UserSettings } from './rules/user-settings.js';
import { TAKEN_CODES } from './rules/failure.js';
import { DeletedPageDto, DeletedQuery, UserDto, presentDeleted, presentUser, getView } from './user.view.js';

@ApiController('users', 'users')
export class DeletedUsersController {
  constructor(
    private readonly deleted: DeletedUsers,
    private readonly settings: UserSettings,
  ) {}

  @Get('deleted')
  @DescribeRoute('listDeletedUsers', 'List deleted users in the order of deletion', {
    description:
      'Deleted users can be restored with `POST /users/{user_id}/restore` for SCIM_DELETED_DAYS days. After that, their data is removed. ' +
      '`deleted_by` and `reason` come from the audit.',
    answer: describeJson('A page of deleted users.', DeletedPageDto),
    errors: ['search_too_broad'],
  })
  @Requires('users.deleted')
  @Accepts({ query: DeletedQuery })
  async list(
    @CheckedQuery() query: DeletedQuery,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<DeletedPageDto> {
    const { count, users } = await this.deleted.list(query, toPageRange(query), caller, () =>
      abortOnDisconnect(response),
    );
    const { defaultAvatar } = this.settings;
    return { Count: count, Results: users.map((user) => presentDeleted(user, defaultAvatar)) };
  }

  @Post(':user_id/restore')
  @DescribeRoute('restoreUser', 'Restore a deleted user', {
    description:
      'Restores a user within SCIM_DELETED_DAYS days after the deletion, with the same uuid, the password and all roles that ' +
      'do not come from groups. The groups, sessions and direct reports are not restored. If another user now has the username, email, external id or an ' +
      'authname, the request fails with 409 and the uuid of that user.',
    id: CASE_INSENSITIVE,
    answer: describeJson('The restored user.', UserDto),
    errors: [...TAKEN_CODES, 'reauthentication_required'],
  })
  @HttpCode(200)
  @Requires('users.create')
  async restore(@Param('user_id') uuid: string, @CurrentCaller() caller: Caller): Promise<UserDto> {
    const user = await this.deleted.restore(uuid, caller);
    return presentUser(user, getView(caller.actor, user.uuid), this.settings.defaultAvatar);
  }
}
