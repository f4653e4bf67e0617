import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import type { KeyActor } from '../access/actor.js';
import { ApiKeysService } from '../api-keys/api-keys.service.js';
import { unauthenticated } from '../platform/common/errors.js';
import { RequestStrategy } from './request.strategy.js';

const BEARER = /^bearer +(\S+) *$/i;

/** Authenticates by an API key as a bearer token (RFC 6750), or in the `X-API-Key` header. */
@Injectable()
export class BearerStrategy extends PassportStrategy(RequestStrategy, 'bearer') {
  constructor(private readonly keys: ApiKeysService) {
    super();
  }

  /** @throws ProblemError `unauthenticated` where the two headers have different keys. */
  async validate({ headers, ip = '' }: Request): Promise<KeyActor | false> {
    const bearer = BEARER.exec(headers.authorization ?? '')?.[1];
    const sent = headers['x-api-key'];
    if (bearer !== undefined && sent !== undefined && sent !== bearer) {
      throw unauthenticated('Authorization and X-API-Key have different keys; send one of them.');
    }
    const key = bearer ?? sent;
    return typeof key === 'string' && key !== '' ? ((await this.keys.authenticate(key, ip)) ?? false) : false;
  }
}
