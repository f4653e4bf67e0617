import { Injectable } from '@nestjs/common';
import type { Actor } from '../../access/actor.js';
import { GroupMembers } from '../../groups/group-members.service.js';
import type { Group } from '../../groups/group.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import { UserDirectory } from '../../users/search/user-directory.service.js';
import { Resources } from '../discovery/resources.js';
import { shouldHideOperators } from '../http/profile-rules.js';
import type { ScimObject } from '../protocol/attribute.js';
import { Projection, type ViewParameters } from '../protocol/projection.js';
import { toGroupResource } from './group.mapping.js';

/** Converts groups to resources for responses. Members are read only if the response contains them. */
@Injectable()
export class ScimGroupView {
  constructor(
    private readonly resources: Resources,
    private readonly members: GroupMembers,
    private readonly directory: UserDirectory,
  ) {}

  /**
   * Returns a function that converts a group to a resource. Call `createPresenter` before the change, so that nothing is
   * written if the parameters are invalid.
   * @throws ProblemError `invalid_value` if both `attributes` and `excludedAttributes` are set.
   */
  createPresenter(
    parameters: ViewParameters,
    actor: Actor,
  ): (group: Group, sql?: Sql) => Promise<ScimObject> {
    const shown = new Projection(this.resources.group, parameters);
    return async (group, sql) => {
      if (!this.shouldShowMembers(shown)) return shown.apply(this.toResource(group));
      const members = await this.members.listMembers(group.uuid, sql);
      return shown.apply(this.toResource(group, members, await this.findHiddenUsers(actor, sql)));
    };
  }

  locationOf({ uuid }: Group): string {
    return `${this.resources.base}/Groups/${uuid}`;
  }

  shouldShowMembers(projection: Projection): boolean {
    return projection.hasAttribute(this.resources.group.findAttribute('members'));
  }

  /**
   * Converts a group to a resource with all attributes.
   * @param members ids of the members, or undefined to leave out the members
   * @param hidden users that the API key must not see
   */
  toResource(group: Group, members?: readonly string[], hidden?: ReadonlySet<string>): ScimObject {
    const shown = hidden && hidden.size > 0 ? members?.filter((uuid) => !hidden.has(uuid)) : members;
    const { base, tags } = this.resources;
    return toGroupResource(group, base, tags.weakTagOf(group), shown);
  }

  /**
   * Returns the users that the actor must not see: the local operators, unless the actor has the scope `webmasters`.
   */
  async findHiddenUsers(actor: Actor, sql?: Sql): Promise<ReadonlySet<string>> {
    return shouldHideOperators(actor) ? this.directory.findOperatorUuids(sql) : new Set();
  }
}
