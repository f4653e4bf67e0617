import { Injectable } from '@nestjs/common';
import type { Sql } from '../../platform/database/engine/sql.js';
import { GroupMembers } from '../../groups/group-members.service.js';
import type { User } from '../../users/model/user.js';
import { Resources } from '../discovery/resources.js';
import type { ScimObject } from '../protocol/attribute.js';
import { Projection, type ViewParameters } from '../protocol/projection.js';
import { locationOf, toResource } from './user.mapping.js';

/** Users as they are answered. Groups are read only where they are asked for. */
@Injectable()
export class ScimUserView {
  constructor(
    private readonly resources: Resources,
    private readonly members: GroupMembers,
  ) {}

  /** @throws ProblemError `invalid_value` where both parameters are set: before anything is written. */
  of(parameters: ViewParameters): (user: User, sql?: Sql) => Promise<ScimObject> {
    const shown = new Projection(this.resources.user, parameters);
    return async (user, sql) => {
      const [resource = {}] = await this.all([user], shown, sql);
      return resource;
    };
  }

  async all(users: readonly User[], shown: Projection, sql?: Sql): Promise<ScimObject[]> {
    const withGroups = shown.wants(this.resources.user.attribute('groups'));
    return (await this.whole(users, withGroups, sql)).map((resource) => shown.apply(resource));
  }

  /** With all attributes. @param withGroups whether their groups are read. */
  async whole(users: readonly User[], withGroups: boolean, sql?: Sql): Promise<ScimObject[]> {
    const uuids = users.map(({ uuid }) => uuid);
    const groups = withGroups ? await this.members.groupsOf(uuids, sql) : undefined;
    return users.map((user) => toResource(user, this.resources.base, groups?.get(user.uuid)));
  }

  locationOf(user: Pick<User, 'uuid'>): string {
    return locationOf(user, this.resources.base);
  }
}
