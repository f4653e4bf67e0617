import { Injectable } from '@nestjs/common';
import { WEBMASTER } from '../../access/roles.js';
import { Env } from '../../platform/config/env.js';
import { EntityTags } from '../../platform/http/entity-tags.js';
import { UserSettings } from '../../users/rules/user-settings.js';
import { SCIM_PATH } from '../http/scim-format.js';
import { ResourceDescription } from '../protocol/attribute.js';
import { COMMON, ENTERPRISE, GROUP, ROLLCALL_USER, describeGroup, describeUser } from './schemas.js';

/**
 * Describes the resource types User and Group. Call it only once per process, because attributes are compared by
 * identity.
 * @param roles the roles available in SCIM: all roles except Webmaster
 */
export const describeResources = (roles: readonly string[]) => ({
  user: new ResourceDescription('User', '/Users', COMMON, describeUser(roles), [ENTERPRISE, ROLLCALL_USER]),
  group: new ResourceDescription('Group', '/Groups', COMMON, GROUP, [describeGroup(roles)]),
});

@Injectable()
export class Resources {
  private readonly descriptions = describeResources(
    this.settings.roles.names.filter((role) => role !== WEBMASTER),
  );
  readonly user = this.descriptions.user;
  readonly group = this.descriptions.group;
  /** The absolute URL of `/scim/v2`. */
  readonly base = `${this.env.baseUrl}/${SCIM_PATH}`;

  constructor(
    private readonly settings: UserSettings,
    private readonly env: Env,
    readonly tags: EntityTags,
  ) {}
}
