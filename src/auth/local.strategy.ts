import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { Strategy } from 'passport-local';
import type { LoggedIn } from '../sessions/login.guard.js';
import { LoginService } from './login.service.js';

/** Username and password of a login. */
@Injectable()
export class LocalStrategy extends PassportStrategy(Strategy) {
  constructor(private readonly logins: LoginService) {
    super({ passReqToCallback: true });
  }

  async validate(request: Request, username: string, password: string): Promise<LoggedIn | false> {
    const { ip = '', requestId } = request;
    return (await this.logins.login(username, password, { ip, requestId })) ?? false;
  }
}
