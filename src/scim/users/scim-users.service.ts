import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/actor.js';
import { GroupMembers } from '../../groups/group-members.service.js';
import { ProblemError } from '../../platform/common/errors.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import { type Failure, toFailureProblem } from '../../users/rules/failure.js';
import type { PendingChange } from '../../users/writer/change-set.js';
import { UserChangeQueue } from '../../users/writer/user-change-queue.service.js';
import type { User } from '../../users/model/user.js';
import { UserRecords } from '../../users/search/user-records.service.js';
import { Resources } from '../discovery/resources.js';
import type { ScimObject } from '../protocol/attribute.js';
import { Projection, type ViewParameters } from '../protocol/projection.js';
import { assertVisible } from './scim-user-changes.service.js';
import { locationOf, scimNameOf, toResource } from './user.mapping.js';

/** Reads and writes users for identity providers. Every change goes through `UserChangeQueue`. */
@Injectable()
export class ScimUsers {
  constructor(
    private readonly users: UserRecords,
    private readonly members: GroupMembers,
    private readonly resources: Resources,
    private readonly queue: UserChangeQueue,
  ) {}

  /** @throws ProblemError `not_found`, also for an invalid id and for a user whom the key must not see. */
  async get(id: string, caller: Caller): Promise<User> {
    return assertVisible(await this.users.find(this.resources.user.parseId(id)), id, caller);
  }

  /** Writes a change of one user. @returns the user after the change, or before a deletion. */
  async write(change: PendingChange, caller: Caller): Promise<User> {
    return this.queue.write(change, caller, toScimProblem);
  }

  /**
   * Returns a function that converts a user to a resource. Call `createPresenter` before the change, so that nothing is
   * written if the parameters are invalid.
   * @throws ProblemError `invalid_value` if both `attributes` and `excludedAttributes` are set.
   */
  createPresenter(parameters: ViewParameters): (user: User, sql?: Sql) => Promise<ScimObject> {
    const shown = new Projection(this.resources.user, parameters);
    return async (user, sql) => (await this.present([user], shown, sql))[0] ?? {};
  }

  /** Converts users to resources with the selected attributes. Reads groups only if they are selected. */
  async present(users: readonly User[], shown: Projection, sql?: Sql): Promise<ScimObject[]> {
    const withGroups = shown.hasAttribute('groups');
    return (await this.toResources(users, withGroups, sql)).map((resource) => shown.apply(resource));
  }

  async toResources(users: readonly User[], withGroups: boolean, sql?: Sql): Promise<ScimObject[]> {
    const uuids = users.map(({ uuid }) => uuid);
    const groups = withGroups ? await this.members.listGroupsByUser(uuids, sql) : undefined;
    const { base, tags } = this.resources;
    return users.map((user) => toResource(user, base, tags.weakTagOf(user), groups?.get(user.uuid)));
  }

  locationOf(user: Pick<User, 'uuid'>): string {
    return locationOf(user, this.resources.base);
  }
}

export const toScimProblem = (failures: readonly Failure[]): ProblemError =>
  toFailureProblem(failures, scimNameOf);
