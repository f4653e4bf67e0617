import { Injectable } from '@nestjs/common';
import { RoleCatalogue } from '../../access/roles.js';
import { Env } from '../../platform/config/env.js';
import { normalizeUrl } from '../model/formats.js';
import type { RuleSettings } from './user-rules.js';

export const DEFAULT_AVATAR_PATH = 'assets/default-avatar.svg';

/** Parsed settings for the rules about users. */
@Injectable()
export class UserSettings implements RuleSettings {
  readonly roles: RoleCatalogue;
  readonly emailRequiresTld: boolean;
  readonly defaultAvatar: string;

  constructor(env: Env) {
    this.roles = new RoleCatalogue(env.EXTRA_ROLES);
    this.emailRequiresTld = env.EMAIL_REQUIRE_TLD;
    this.defaultAvatar = normalizeUrl(`${env.baseUrl}/${DEFAULT_AVATAR_PATH}`);
  }
}
