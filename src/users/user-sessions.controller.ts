import { Delete, HttpCode, Param } from '@nestjs/common';
import type { Caller } from '../access/actor.js';
import { CurrentCaller, Requires } from '../access/decorators.js';
import { ApiController, DescribeRoute } from '../platform/openapi/route-docs.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { UsersService } from './users.service.js';

@ApiController('users/:user_id/sessions', 'sessions')
export class UserSessionsController {
  constructor(
    private readonly users: UsersService,
    private readonly sessions: SessionsService,
  ) {}

  @Delete()
  @DescribeRoute('endUserSessions', 'End all sessions of a user', {
    description:
      'Ends all sessions of the user. This includes the session of the request if it belongs to the user.',
    answer: 'All sessions of the user were ended.',
  })
  @HttpCode(204)
  @Requires('sessions.manage', 'sessions.end')
  async endAll(@Param('user_id') uuid: string, @CurrentCaller() caller: Caller): Promise<void> {
    await this.users.get(uuid, caller);
    await this.sessions.endAll(uuid, caller);
  }
}
