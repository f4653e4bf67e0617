import { Controller, HttpCode, Post, Req, Res, UseGuards } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import type { Caller } from '../access/actor.js';
import { CurrentCaller, Public, Requires } from '../access/decorators.js';
import { unauthenticated } from '../common/errors.js';
import { Accepts } from '../common/input.guard.js';
import { LoginGuard, type LoggedIn } from './login.guard.js';
import { SessionCookie } from './session.cookie.js';
import { DocLogin, DocLogout } from './sessions.docs.js';
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
  @Accepts({ body: true })
  @UseGuards(LoginGuard)
  login(@Req() request: Request, @Res({ passthrough: true }) response: Response): Omit<LoggedIn, 'token'> {
    const { uuid, username, token } = request.user as LoggedIn;
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
    if (caller.actor.kind !== 'user') {
      throw unauthenticated('Only a session can log out; an API key has none.');
    }
    await this.sessions.end(caller.actor.sessionId, caller);
    this.cookie.clear(response);
    return {};
  }
}
