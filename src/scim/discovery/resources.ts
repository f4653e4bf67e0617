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
  readonly user: ResourceDescription;
  readonly group: ResourceDescription;
  /** The absolute URL of `/scim/v2`. */
  readonly base: string;
  readonly tags: EntityTags;

  constructor(settings: UserSettings, env: Env, tags: EntityTags) {
    const { user, group } = describeResources(settings.roles.names.filter((role) => role !== WEBMASTER));
    this.user = user;
    this.group = group;
    this.tags = tags;
    this.base = `${env.baseUrl}/${SCIM_PATH}`;
  }
}
