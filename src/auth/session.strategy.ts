import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { Strategy } from 'passport';
import type { UserActor } from '../access/actor.js';
import { SessionCookie } from '../sessions/session-cookie.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { rolesOf } from '../users/model/user.js';
import { UsersService } from '../users/users.service.js';

/** A Passport strategy that passes the request itself to `validate`. */
class CookieStrategy extends Strategy {
  constructor(
    private readonly verify: (request: Request, done: (error: unknown, actor?: object) => void) => void,
  ) {
    super();
  }

  override authenticate(request: Request): void {
    this.verify(request, (error, actor) => {
      if (error) this.error(error);
      else if (actor) this.success(actor);
      else this.fail('unauthenticated', 401);
    });
  }
}

/** Authenticates by the session cookie. Status and roles are read with every request, so a change takes effect at once. */
@Injectable()
export class SessionStrategy extends PassportStrategy(CookieStrategy, 'session-cookie') {
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
