import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Caller } from '../access/actor.js';
import { CurrentCaller, Requires } from '../access/decorators.js';
import { Accepts, CheckedQuery } from '../platform/http/input.guard.js';
import { page } from '../platform/http/page.js';
import { DeletedUsers } from './deleted-users.service.js';
import {
  type DeletedPageDto,
  DeletedQuery,
  DocDeleted,
  DocRestore,
  presentDeleted,
} from './deleted-users.docs.js';
import { UserSettings } from './rules/user-settings.js';
import { type UserDto, presentUser, viewFor } from './user.view.js';

@ApiTags('users')
@Controller('users/deleted')
export class DeletedUsersController {
  constructor(private readonly deleted: DeletedUsers) {}

  @Get()
  @DocDeleted()
  @Requires('users.deleted')
  @Accepts({ query: DeletedQuery })
  async list(@CheckedQuery() query: DeletedQuery): Promise<DeletedPageDto> {
    const { count, users } = await this.deleted.list(query.since, page(query));
    return { Count: count, Results: users.map(presentDeleted) };
  }
}

@ApiTags('users')
@Controller('users/:user_id/restore')
export class UserRestoreController {
  constructor(
    private readonly deleted: DeletedUsers,
    private readonly settings: UserSettings,
  ) {}

  @Post()
  @DocRestore()
  @HttpCode(200)
  @Requires('users.create')
  async restore(@Param('user_id') uuid: string, @CurrentCaller() caller: Caller): Promise<UserDto> {
    const user = await this.deleted.restore(uuid, caller);
    return presentUser(user, viewFor(caller.actor, user.uuid), this.settings.defaultAvatar);
  }
}
