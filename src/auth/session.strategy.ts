import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import type { UserActor } from '../access/actor.js';
import { SessionCookie } from '../sessions/session-cookie.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { rolesOf } from '../users/model/user.js';
import { UsersService } from '../users/users.service.js';
import { RequestStrategy } from './request.strategy.js';

/** Authenticates by the session cookie. Status and roles are read with every request, so a change takes effect at once. */
@Injectable()
export class SessionStrategy extends PassportStrategy(RequestStrategy, 'session-cookie') {
  constructor(
    private readonly cookie: SessionCookie,
    private readonly sessions: SessionsService,
    private readonly users: UsersService,
  ) {
    super();
  }

  async validate(request: Request): Promise<UserActor | false> {
    const token = this.cookie.read(request);
    const session = token ? await this.sessions.find(token) : undefined;
    const user = session && (await this.users.find(session.userUuid));
    if (user?.status !== 'Active') return false;
    if (session?.renewed) await this.users.touch(user.uuid);
    return {
      kind: 'user',
      id: user.uuid,
      username: user.username,
      roles: rolesOf(user),
      sessionId: session?.id ?? '',
    };
  }
}
