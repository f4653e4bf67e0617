import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { Strategy } from 'passport-local';
import { ProblemError } from '../platform/common/errors.js';
import { abortOnDisconnect } from '../platform/http/stream.js';
import { Metrics } from '../platform/telemetry/metrics.js';
import type { LoggedIn } from '../sessions/login.guard.js';
import { SessionCookie } from '../sessions/session-cookie.js';
import { LoginService } from './login.service.js';

@Injectable()
export class LocalStrategy extends PassportStrategy(Strategy) {
  constructor(
    private readonly logins: LoginService,
    private readonly cookie: SessionCookie,
    private readonly metrics: Metrics,
  ) {
    super({ passReqToCallback: true });
  }

  async validate(request: Request, username: string, password: string): Promise<LoggedIn | false> {
    const { ip = '', requestId, res } = request;
    const signal = res && abortOnDisconnect(res);
    try {
      const deviceTokens = this.cookie.readDeviceTokens(request);
      const isBrowser = request.headers['sec-fetch-mode'] !== undefined;
      const client = { ip, requestId, signal, deviceTokens, isBrowser };
      const user = await this.logins.login(username, password, client);
      this.metrics.logins.inc({ result: user ? 'success' : 'failed' });
      return user ?? false;
    } catch (error) {
      if (error instanceof ProblemError && error.code === 'login_throttled')
        this.metrics.logins.inc({ result: 'throttled' });
      throw error;
    }
  }
}
