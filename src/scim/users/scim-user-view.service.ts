import { Injectable } from '@nestjs/common';
import type { Sql } from '../../platform/database/engine/sql.js';
import { GroupMembers } from '../../groups/group-members.service.js';
import type { User } from '../../users/model/user.js';
import { Resources } from '../discovery/resources.js';
import type { ScimObject } from '../protocol/attribute.js';
import { Projection } from '../protocol/projection.js';
import { locationOf, toResource } from './user.mapping.js';

/** Which attributes an answer is to have, as a client asks for it. */
export interface ViewParameters {
  attributes?: unknown;
  excludedAttributes?: unknown;
}

/** Users as they are answered. Groups are read only where they are asked for. */
@Injectable()
export class ScimUserView {
  constructor(
    private readonly resources: Resources,
    private readonly members: GroupMembers,
  ) {}

  /** @throws ProblemError `invalid_value` where both parameters are set: before anything is written. */
  of(parameters: ViewParameters): (user: User, sql?: Sql) => Promise<ScimObject> {
    const { attributes, excludedAttributes } = parameters;
    const shown = new Projection(this.resources.user, { attributes, excludedAttributes });
    return async (user, sql) => {
      const [resource = {}] = await this.all([user], shown, sql);
      return resource;
    };
  }

  async all(users: readonly User[], shown: Projection, sql?: Sql): Promise<ScimObject[]> {
    return (await this.whole(users, this.wantsGroups(shown), sql)).map((resource) => shown.apply(resource));
  }

  /** With all attributes. @param withGroups whether their groups are read. */
  async whole(users: readonly User[], withGroups: boolean, sql?: Sql): Promise<ScimObject[]> {
    const groups = withGroups
      ? await this.members.groupsOf(
          users.map(({ uuid }) => uuid),
          sql,
        )
      : undefined;
    return users.map((user) => toResource(user, this.resources.base, groups?.get(user.uuid)));
  }

  locationOf(user: Pick<User, 'uuid'>): string {
    return locationOf(user, this.resources.base);
  }

  private wantsGroups(shown: Projection): boolean {
    const groups = this.resources.user.attribute('groups');
    return groups !== undefined && shown.wants(groups);
  }
}
