import { Controller, Delete, HttpCode, Param } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Caller } from '../access/actor.js';
import { CurrentCaller, Requires } from '../access/decorators.js';
import { DocEndSessionsOfUser } from '../sessions/sessions.docs.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { UsersService } from './users.service.js';

@ApiTags('sessions')
@Controller('users/:user_id/sessions')
export class UserSessionsController {
  constructor(
    private readonly users: UsersService,
    private readonly sessions: SessionsService,
  ) {}

  @Delete()
  @DocEndSessionsOfUser()
  @HttpCode(204)
  @Requires('sessions.manage', 'sessions.end')
  async endAll(@Param('user_id') uuid: string, @CurrentCaller() caller: Caller): Promise<void> {
    await this.users.get(uuid, caller);
    await this.sessions.endAll(uuid, caller);
  }
}
