import { Controller, Delete, Get, HttpCode, Param, Post, Res, UseGuards } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { Actor, Caller } from '../access/actor.js';
import { CurrentCaller, Public, Requires } from '../access/decorators.js';
import { isWebmaster } from '../access/policy.js';
import { ProblemError, unauthenticated } from '../platform/common/errors.js';
import { LOGIN_BODY } from '../platform/http/body-reader.js';
import { Accepts, CheckedQuery } from '../platform/http/input.guard.js';
import { page } from '../platform/http/page.js';
import { CurrentLogin, type LoggedIn, LoginGuard } from './login.guard.js';
import { SessionCookie } from './session-cookie.js';
import { presentSession } from './session.view.js';
import {
  DocEndSession,
  DocListSessions,
  DocLogin,
  DocLogout,
  type LoggedInDto,
  type SessionPageDto,
  SessionsQuery,
} from './sessions.docs.js';
import { SessionsService } from './sessions.service.js';

@ApiTags('sessions')
@Controller('sessions')
export class SessionsController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly cookie: SessionCookie,
  ) {}

  @Post('login')
  @DocLogin()
  @HttpCode(200)
  @Public()
  @Accepts({ body: LOGIN_BODY })
  @UseGuards(LoginGuard)
  login(
    @CurrentLogin() { uuid, username, token }: LoggedIn,
    @Res({ passthrough: true }) response: Response,
  ): LoggedInDto {
    this.cookie.write(response, token);
    return { uuid, username };
  }

  @Post('logout')
  @DocLogout()
  @HttpCode(200)
  @Requires('session.logout')
  async logout(
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object> {
    const { actor } = caller;
    if (actor.kind !== 'user') throw unauthenticated('Only a session can log out; an API key has none.');
    await this.sessions.end(actor.sessionId, caller);
    this.cookie.clear(response);
    return {};
  }

  @Get()
  @DocListSessions()
  @Requires('sessions.own')
  @Accepts({ query: SessionsQuery })
  async list(
    @CheckedQuery() query: SessionsQuery,
    @CurrentCaller() { actor }: Caller,
  ): Promise<SessionPageDto> {
    const own = ownOnly(actor);
    const wanted = query.user_uuid?.toLowerCase();
    if (own !== undefined && wanted !== undefined && wanted !== own) {
      throw new ProblemError('forbidden', 'Your role lets you see only your own sessions.');
    }
    const { count, sessions } = await this.sessions.list(own ?? wanted, page(query));
    return { Count: count, Results: sessions.map((session) => presentSession(session, actor)) };
  }

  @Delete(':session_id')
  @DocEndSession()
  @HttpCode(204)
  @Requires('sessions.end')
  async end(@Param('session_id') id: string, @CurrentCaller() caller: Caller): Promise<void> {
    // Another user's session is reported as missing.
    const ended = await this.sessions.end(id, caller, ownOnly(caller.actor));
    if (!ended) throw new ProblemError('not_found', `There is no session ${id}.`);
  }
}

/** The uuid of the user to whose sessions the actor is limited; undefined for all sessions. */
function ownOnly(actor: Actor): string | undefined {
  return actor.kind === 'user' && !isWebmaster(actor) ? actor.id : undefined;
}
