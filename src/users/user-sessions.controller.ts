import { Body, Delete, HttpCode, Param, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import type { Caller } from '../access/actor.js';
import { CurrentCaller, Requires } from '../access/decorators.js';
import { createValidationError } from '../platform/common/errors.js';
import { LOGIN_BODY } from '../platform/http/body-reader.js';
import { Accepts } from '../platform/http/input.guard.js';
import { type CheckedInput, InputPipe } from '../platform/input/read-input.js';
import { ApiController, DescribeRoute } from '../platform/openapi/route-docs.js';
import { ConfirmationInput } from '../sessions/login.input.js';
import { SessionCookie } from '../sessions/session-cookie.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { UsersService } from './users.service.js';

/** Routes for sessions that need `UsersService`. */
@ApiController('', 'sessions')
export class UserSessionsController {
  constructor(
    private readonly users: UsersService,
    private readonly sessions: SessionsService,
    private readonly cookie: SessionCookie,
  ) {}

  @Delete('users/:user_id/sessions')
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

  @Post('sessions/confirm')
  @DescribeRoute('confirmSession', 'Confirm the session with the password', {
    description:
      'For 10 minutes after a login or a confirmation, a session may create API keys and give the role Webmaster. ' +
      'A wrong password counts as a failed login.',
    body: ConfirmationInput,
    answer: 'The session was confirmed.',
    errors: ['login_failed', 'login_throttled'],
  })
  @HttpCode(204)
  @Requires('session.confirm')
  @Accepts({ body: LOGIN_BODY })
  async confirm(
    @Body(new InputPipe(ConfirmationInput)) { value, errors }: CheckedInput<ConfirmationInput>,
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
  ): Promise<void> {
    if (errors.length > 0) throw createValidationError(errors);
    await this.users.confirmSession(value.password, caller, this.cookie.readDeviceTokens(request));
  }
}
