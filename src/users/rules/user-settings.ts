import { Injectable } from '@nestjs/common';
import { RoleCatalogue } from '../../access/roles.js';
import { Env } from '../../platform/config/env.js';
import { normalizeUrl } from '../model/formats.js';

export const DEFAULT_AVATAR_PATH = 'assets/default-avatar.svg';

/** Parsed settings for the rules about users. */
@Injectable()
export class UserSettings {
  readonly roles: RoleCatalogue;
  readonly emailRequiresTld: boolean;
  /** URL of the default avatar. A request that sends this URL as `user_avatar` clears the field. */
  readonly defaultAvatar: string;

  constructor(env: Env) {
    this.roles = new RoleCatalogue(env.EXTRA_ROLES);
    this.emailRequiresTld = env.EMAIL_REQUIRE_TLD;
    this.defaultAvatar = normalizeUrl(`${env.baseUrl}/${DEFAULT_AVATAR_PATH}`);
  }
}
