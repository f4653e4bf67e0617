import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { HeaderAPIKeyStrategy } from 'passport-headerapikey';
import type { KeyActor } from '../access/actor.js';
import { ApiKeysService } from '../api-keys/api-keys.service.js';

type Done = (error: Error | null, actor?: object) => void;

/** Passes the request to `validate`: the library passes it behind `done`, where Nest expects `done` itself. */
class KeyOfRequestStrategy extends HeaderAPIKeyStrategy {
  constructor(verify: (key: string, request: Request, done: Done) => void) {
    super({ header: 'X-API-Key', prefix: '' }, true, (key: string, done: Done, request?: Request) => {
      if (request) verify(key, request, done);
    });
  }
}

/** Authenticates by the `X-API-Key` header. */
@Injectable()
export class ApiKeyStrategy extends PassportStrategy(KeyOfRequestStrategy, 'api-key') {
  constructor(private readonly keys: ApiKeysService) {
    super();
  }

  async validate(key: string, { ip = '' }: Request): Promise<KeyActor | false> {
    return (await this.keys.authenticate(key, ip)) ?? false;
  }
}
