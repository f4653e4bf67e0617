import { Injectable } from '@nestjs/common';
import { setImmediate } from 'node:timers/promises';
import type { Caller } from '../access/actor.js';
import { type FieldError, createValidationError } from '../platform/common/errors.js';
import { filterInBatches, toBatches } from '../platform/common/time-slice.js';
import type { Sql } from '../platform/database/engine/sql.js';
import { UserSettings } from '../users/rules/user-settings.js';
import { UserDirectory } from '../users/search/user-directory.service.js';
import { toFailureProblem } from '../users/rules/failure.js';
import { UserWriter } from '../users/writer/user-writer.service.js';
import { GroupRepository } from './group.repository.js';
import type { Group } from './group.js';
import type { MemberChange } from './member-change.js';

/** The users that a change adds to a group and removes from it, each sorted by uuid. */
export interface MemberDelta {
  added: readonly string[];
  removed: readonly string[];
}

/** Number of users whose roles one step changes. The user writer handles them without a pause. */
const ROLES_BATCH_SIZE = 100;

/**
 * Reads and changes members of groups in the transaction of the caller. The cost depends on the number of members added
 * or removed, not on the size of the group.
 */
@Injectable()
export class GroupMembers {
  constructor(
    private readonly repository: GroupRepository,
    private readonly directory: UserDirectory,
    private readonly writer: UserWriter,
    private readonly settings: UserSettings,
  ) {}

  readonly listMembers: GroupRepository['listMembers'] = (...group) => this.repository.listMembers(...group);

  readonly listMembersByGroup: GroupRepository['listMembersByGroup'] = (...ids) =>
    this.repository.listMembersByGroup(...ids);

  readonly listGroupsByUser: GroupRepository['listGroupsByUser'] = (...users) =>
    this.repository.listGroupsByUser(...users);

  /**
   * Computes which users a change adds and removes, and locks the users to add. Ignores unknown user ids.
   * @throws ProblemError `validation_failed` if a member to add is a group.
   */
  async resolveDelta(tx: Sql, group: string, change?: MemberChange): Promise<MemberDelta> {
    if (!change) return { added: [], removed: [] };
    const { added, removed } = change;
    const isChangeable = (uuid: string): boolean => !change.ignoredUsers.has(uuid);
    const members = change.isReplacement
      ? await findInBatches(await this.repository.listMembers(group, tx), (part) => part)
      : await this.filterMembers(tx, group, [...added, ...removed]);
    const toAdd = await filterInBatches([...added], (uuid) => !members.has(uuid) && isChangeable(uuid));
    const toRemove = await filterInBatches(
      [...(change.isReplacement ? members : removed)],
      (uuid) => members.has(uuid) && !added.has(uuid) && isChangeable(uuid),
    );
    const locked = await findInBatches(toAdd.sort(), (part) => this.directory.lock(tx, part));
    await this.assertNotGroups(tx, await filterInBatches(toAdd, (uuid) => !locked.has(uuid)));
    return { added: await filterInBatches(toAdd, (uuid) => locked.has(uuid)), removed: toRemove.sort() };
  }

  async applyDelta(tx: Sql, group: Group, { added, removed }: MemberDelta, caller: Caller): Promise<void> {
    for await (const part of toBatches(added)) await this.repository.addMembers(tx, group.uuid, part);
    for await (const part of toBatches(removed)) {
      // Lock users before their memberships, like the user writer, so that the two cannot deadlock.
      if (group.roles.length > 0) await this.directory.lock(tx, part);
      await this.repository.removeMembers(tx, group.uuid, part);
    }
    if (group.roles.length === 0) return;
    for await (const part of toBatches([...added, ...removed], ROLES_BATCH_SIZE))
      await this.updateRoles(tx, part, 'members', caller);
  }

  /** Updates the group roles of all members of a group. Call it after the roles of the group have changed. */
  async updateAllGroupRoles(tx: Sql, group: string, caller: Caller): Promise<void> {
    for (let after: string | undefined = ''; after !== undefined;) {
      const part = await this.repository.readMembers(group, after, ROLES_BATCH_SIZE, tx);
      await this.updateRoles(tx, part, 'roles', caller);
      after = part.at(-1);
      await setImmediate(); // lets other requests run, as in `toBatches`
    }
  }

  /**
   * Sets the group roles of each user to the roles of all groups of the user (ADR 25).
   * @param users at most a few hundred.
   * @param field the field to name in an error: `members` or `roles`.
   * @throws ProblemError `validation_failed` with the users who cannot have these roles, or an error of the user
   * writer.
   */
  private async updateRoles(tx: Sql, users: readonly string[], field: string, caller: Caller): Promise<void> {
    const locked = await this.directory.lock(tx, users);
    if (locked.length === 0) return;
    const unions = new Map(locked.map((user) => [user, new Set<string>()]));
    for (const { user, roles } of await this.repository.listGroupRoles(tx, locked))
      for (const role of roles) unions.get(user)?.add(role);
    const changes = [...unions].map(([uuid, roles]) => {
      return { kind: 'update' as const, uuid, patch: { group_roles: this.settings.roles.sort([...roles]) } };
    });
    const outcomes = await this.writer.apply(tx, changes, caller);
    const errors: FieldError[] = [];
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.outcome !== 'error') continue;
      const broken = outcome.failures.find(({ code }) => code === 'exclusive_roles');
      if (!broken) throw toFailureProblem(outcome.failures);
      const message = `would make user ${locked[index] ?? ''} invalid: ${broken.field} ${broken.message}`;
      errors.push({ field, code: 'exclusive_roles', message });
    }
    if (errors.length > 0) throw createValidationError(errors);
  }

  async filterMembers(tx: Sql, group: string, users: readonly string[]): Promise<Set<string>> {
    return findInBatches(users, (part) => this.repository.filterMembers(tx, group, part));
  }

  private async assertNotGroups(tx: Sql, unknownIds: readonly string[]): Promise<void> {
    for await (const part of toBatches(unknownIds)) {
      const groups = await this.repository.findExistingIds(tx, part);
      if (groups.length === 0) continue;
      const message = `must contain users only, not groups: ${groups.slice(0, 5).join(', ')}`;
      throw createValidationError([{ field: 'members', code: 'invalid_value', message }]);
    }
  }
}

type FindUuids = (part: readonly string[]) => Iterable<string> | Promise<Iterable<string>>;

async function findInBatches(users: readonly string[], find: FindUuids): Promise<Set<string>> {
  const found = new Set<string>();
  for await (const part of toBatches(users)) for (const uuid of await find(part)) found.add(uuid);
  return found;
}
