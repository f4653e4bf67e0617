import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { HeaderAPIKeyStrategy } from 'passport-headerapikey';
import type { KeyActor } from '../access/actor.js';
import { ApiKeysService } from '../api-keys/api-keys.service.js';

/** Authenticates by the `X-API-Key` header. */
@Injectable()
export class ApiKeyStrategy extends PassportStrategy(HeaderAPIKeyStrategy, 'api-key') {
  constructor(private readonly keys: ApiKeysService) {
    super({ header: 'X-API-Key', prefix: '' }, false);
  }

  async validate(key: string): Promise<KeyActor | false> {
    return (await this.keys.authenticate(key)) ?? false;
  }
}
