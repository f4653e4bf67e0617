import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { HeaderAPIKeyStrategy } from 'passport-headerapikey';
import { Strategy } from 'passport';
import type { KeyActor, UserActor } from '../access/actor.js';
import { ApiKeysService } from '../api-keys/api-keys.service.js';
import { createUnauthenticatedError } from '../platform/common/errors.js';
import { SessionCookie } from '../sessions/session-cookie.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { parseRoles, rolesOf } from '../users/model/user.js';
import { UsersService } from '../users/users.service.js';

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
    private readonly users: UsersService,
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
