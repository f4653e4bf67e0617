import { Injectable } from '@nestjs/common';
import { WEBMASTER } from '../../access/roles.js';
import { Env } from '../../platform/config/env.js';
import { UserSettings } from '../../users/rules/user-settings.js';
import { SCIM_PATH } from '../http/scim-format.js';
import type { ResourceDescription } from '../protocol/attribute.js';
import { type Descriptions, describeResources } from './schemas.js';

/** The types of resource of this installation: the one pair of the process, by which attributes are known. */
@Injectable()
export class Resources implements Descriptions {
  readonly user: ResourceDescription;
  readonly group: ResourceDescription;
  /** The absolute URL of `/scim/v2`. */
  readonly base: string;

  constructor(settings: UserSettings, env: Env) {
    const { user, group } = describeResources(settings.roles.names.filter((role) => role !== WEBMASTER));
    this.user = user;
    this.group = group;
    this.base = `${env.baseUrl}/${SCIM_PATH}`;
  }
}
