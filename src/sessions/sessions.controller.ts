import { Delete, Get, HttpCode, Param, Post, Res, UseGuards } from '@nestjs/common';
import type { Response } from 'express';
import type { Actor, Caller } from '../access/actor.js';
import { CurrentCaller, Public, Requires } from '../access/decorators.js';
import { isWebmaster } from '../access/policy.js';
import { ProblemError, createUnauthenticatedError } from '../platform/common/errors.js';
import { LOGIN_BODY } from '../platform/http/body-reader.js';
import { Accepts, CheckedQuery } from '../platform/http/input.guard.js';
import { toPageRange } from '../platform/http/page.js';
import { describeHeader } from '../platform/openapi/shared-schemas.js';
import { ApiController, DescribeRoute, describeJson } from '../platform/openapi/route-docs.js';
import { CurrentLogin, type LoggedIn, LoginGuard } from './login.guard.js';
import { LoginInput } from './login.input.js';
import { SessionCookie } from './session-cookie.js';
import { LoggedInDto, SessionPageDto, SessionsQuery, presentSession } from './session.view.js';
import { SessionsService } from './sessions.service.js';

const COOKIE = describeHeader('Set-Cookie', 'The session cookie. A browser also gets a device cookie.', {
  maxLength: 4096,
});

@ApiController('sessions', 'sessions')
export class SessionsController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly cookie: SessionCookie,
  ) {}

  @Post('login')
  @DescribeRoute('logIn', 'Log in with a password', {
    description:
      'Sets the session cookie. The response is the same for an unknown user, a blocked user and a wrong password. ' +
      'After five failures within 15 minutes, further logins fail with 429.',
    body: LoginInput,
    answer: describeJson('Logged in.', LoggedInDto, COOKIE),
    errors: ['login_failed', 'login_throttled'],
  })
  @HttpCode(200)
  @Public()
  @Accepts({ body: LOGIN_BODY })
  @UseGuards(LoginGuard)
  login(@CurrentLogin() login: LoggedIn, @Res({ passthrough: true }) response: Response): LoggedInDto {
    this.cookie.write(response, login);
    const { uuid, username } = login;
    return { uuid, username };
  }

  @Post('logout')
  @DescribeRoute('logOut', 'End the session', {
    description: 'Ends the session of the cookie on all instances of the service.',
    answer: { description: 'Logged out.', schema: { type: 'object', example: {} } },
  })
  @HttpCode(200)
  @Requires('session.logout')
  async logout(
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object> {
    const { actor } = caller;
    if (actor.kind !== 'user')
      throw createUnauthenticatedError('An API key cannot log out, because it has no session.');
    await this.sessions.end(actor.sessionId, caller);
    this.cookie.clear(response);
    return {};
  }

  @Get()
  @DescribeRoute('listSessions', 'List active sessions, newest first', {
    description: 'Users see their own sessions. Webmasters and API keys see the sessions of all users.',
    answer: describeJson('A page of sessions.', SessionPageDto),
  })
  @Requires('sessions.own')
  @Accepts({ query: SessionsQuery })
  async list(
    @CheckedQuery() query: SessionsQuery,
    @CurrentCaller() { actor }: Caller,
  ): Promise<SessionPageDto> {
    const own = ownerFilterOf(actor);
    const requested = query.user_uuid?.toLowerCase();
    if (own !== undefined && requested !== undefined && requested !== own) {
      throw new ProblemError('forbidden', 'Your role only allows you to see your own sessions.');
    }
    const { count, sessions } = await this.sessions.list(own ?? requested, toPageRange(query));
    return { Count: count, Results: sessions.map((session) => presentSession(session, actor)) };
  }

  @Delete(':session_id')
  @DescribeRoute('endSession', 'End a session', {
    description:
      'Users can end their own sessions. Webmasters and API keys can end any session. The next request of the session fails with 401.',
    answer: 'The session has ended.',
  })
  @HttpCode(204)
  @Requires('sessions.end')
  async end(@Param('session_id') id: string, @CurrentCaller() caller: Caller): Promise<void> {
    // If the session belongs to a user whose sessions the actor may not see, it is reported as missing.
    const ended = await this.sessions.end(id, caller, ownerFilterOf(caller.actor));
    if (!ended) throw new ProblemError('not_found', `There is no session ${id}.`);
  }
}

/**
 * Returns the only user whose sessions the actor may see. Returns undefined if the actor may see the sessions of all
 * users.
 */
function ownerFilterOf(actor: Actor): string | undefined {
  return actor.kind === 'user' && !isWebmaster(actor) ? actor.id : undefined;
}
