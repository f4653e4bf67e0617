import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { HeaderAPIKeyStrategy } from 'passport-headerapikey';
import { Strategy } from 'passport';
import type { KeyActor, UserActor } from '../access/actor.js';
import { ApiKeysService } from '../api-keys/api-keys.service.js';
import { createUnauthenticatedError, ProblemError } from '../platform/common/errors.js';
import { SessionCookie } from '../sessions/session-cookie.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { parseRoles, rolesOf } from '../users/model/user.js';
import { UserRecords } from '../users/search/user-records.service.js';
import { Strategy as LocalPassportStrategy } from 'passport-local';
import { abortOnDisconnect } from '../platform/http/stream.js';
import { Metrics } from '../platform/telemetry/metrics.js';
import type { LoggedIn } from '../sessions/login.guard.js';
import { LoginService } from './login.service.js';

type Done = (error: Error | null, actor?: object) => void;

class RequestStrategy extends Strategy {
  constructor(private readonly verify: (request: Request, done: Done) => void) {
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

/**
 * A Passport strategy whose `validate` receives the key and the request. The library passes the request as the last
 * argument, but Nest expects the callback `done` to be last.
 */
class ApiKeyRequestStrategy extends HeaderAPIKeyStrategy {
  constructor(verify: (key: string, request: Request, done: Done) => void) {
    super({ header: 'X-API-Key', prefix: '' }, true, (key: string, done: Done, request?: Request) => {
      if (request) verify(key, request, done);
    });
  }
}

@Injectable()
export class ApiKeyStrategy extends PassportStrategy(ApiKeyRequestStrategy, 'api-key') {
  constructor(private readonly keys: ApiKeysService) {
    super();
  }

  async validate(key: string, { ip = '' }: Request): Promise<KeyActor | false> {
    return (await this.keys.authenticate(key, ip)) ?? false;
  }
}

const BEARER = /^bearer +(\S+) *$/i;

/** Authenticates with an API key, either as a bearer token (RFC 6750) or in the `X-API-Key` header. */
@Injectable()
export class BearerStrategy extends PassportStrategy(RequestStrategy, 'bearer') {
  constructor(private readonly keys: ApiKeysService) {
    super();
  }

  /**
   * Returns the actor of the API key, or false if the key is invalid.
   * @throws ProblemError `unauthenticated` if `Authorization` and `X-API-Key` contain different keys.
   */
  async validate({ headers, ip = '' }: Request): Promise<KeyActor | false> {
    const bearer = BEARER.exec(headers.authorization ?? '')?.[1];
    const sent = headers['x-api-key'];
    if (bearer !== undefined && sent !== undefined && sent !== bearer) {
      throw createUnauthenticatedError('Authorization and X-API-Key contain different keys. Send only one.');
    }
    const key = bearer ?? sent;
    return typeof key === 'string' && key !== '' ? ((await this.keys.authenticate(key, ip)) ?? false) : false;
  }
}

/**
 * Authenticates with the session cookie. Reads the status and roles of the user with every request, so that a change
 * takes effect immediately.
 */
@Injectable()
export class SessionStrategy extends PassportStrategy(RequestStrategy, 'session-cookie') {
  constructor(
    private readonly cookie: SessionCookie,
    private readonly sessions: SessionsService,
    private readonly users: UserRecords,
  ) {
    super();
  }

  async validate(request: Request): Promise<UserActor | false> {
    const token = this.cookie.read(request);
    const session = token ? await this.sessions.find(token) : undefined;
    if (session?.status !== 'Active') return false;
    if (session.renewed) await this.users.updateLastAccess(session.user_uuid);
    return {
      kind: 'user',
      id: session.user_uuid,
      username: session.username,
      roles: rolesOf(parseRoles(session)),
      sessionId: session.id,
      confirmed: session.confirmed,
      mustChangePassword: session.password_change_required === 1,
    };
  }
}

@Injectable()
export class LocalStrategy extends PassportStrategy(LocalPassportStrategy) {
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
