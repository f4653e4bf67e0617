import { Injectable } from '@nestjs/common';
import type { Caller } from '../access/actor.js';
import { assertConfirmed, assertScope } from '../access/policy.js';
import { WEBMASTER } from '../access/roles.js';
import type { AuditAction } from '../audit/audit-event.js';
import { recordEvents } from '../audit/audit.service.js';
import type { FieldChange } from '../platform/common/field-changes.js';
import { ProblemError } from '../platform/common/errors.js';
import { now } from '../platform/common/time.js';
import { type Sql, chunkValues } from '../platform/database/engine/sql.js';
import type { Versions } from '../platform/http/entity-tags.js';
import { GroupMembers, type MemberDelta } from './group-members.service.js';
import { GroupRepository } from './group.repository.js';
import { type Group, type GroupFields, diffGroups, toGroupRow } from './group.js';
import type { MemberChange } from './member-change.js';

export interface GroupChange {
  /** Returns the new values of the fields for the locked group. Throws an error if the change is invalid. */
  toFields: (current: Group) => GroupFields;
  /** Returns the change of the members. Called in the transaction, because it can depend on the current members. */
  toMembers?: (tx: Sql, current: Group) => MemberChange | Promise<MemberChange>;
  ifVersions?: Versions;
}

/**
 * Writes changes of groups in the transaction of the caller. Locks the row of the group, so changes of other groups
 * need not wait.
 */
@Injectable()
export class GroupWriter {
  constructor(
    private readonly repository: GroupRepository,
    private readonly members: GroupMembers,
  ) {}

  /** @throws ProblemError `display_name_taken`, `external_id_taken`, `validation_failed`, or an error of the user writer. */
  async create(
    tx: Sql,
    uuid: string,
    { display_name = '', external_id = '', roles = [] }: GroupFields,
    members: MemberChange | undefined,
    caller: Caller,
  ): Promise<Group> {
    const time = now();
    const group = { uuid, display_name, external_id, roles, created: time, updated: time, version: 1 };
    const delta = await this.members.resolveDelta(tx, uuid, members);
    if (roles.length > 0) assertMaySetRoles(caller, [], roles);
    await this.assertUnique(tx, undefined, group);
    await this.repository.insert(tx, group);
    await this.members.applyDelta(tx, group, delta, caller);
    await this.recordAudit(tx, 'group.created', uuid, diffGroups(undefined, group), delta, caller);
    return group;
  }

  /**
   * Changes a group and records the change in the audit. If no value differs, nothing is written.
   * @returns the group after the change.
   * @throws ProblemError `not_found`, `insufficient_scope`, `precondition_failed`, or an error of `create`.
   */
  async update(tx: Sql, uuid: string, change: GroupChange, caller: Caller): Promise<Group> {
    const { toFields, toMembers, ifVersions } = change;
    const before = await this.lock(tx, uuid);
    const after = { ...before, ...toFields(before) };
    const delta = await this.members.resolveDelta(tx, uuid, await toMembers?.(tx, before));
    const changes = diffGroups(before, after);
    const changesRoles = changes.some(({ field }) => field === 'roles');
    const isChanged = changes.length + delta.added.length + delta.removed.length > 0;
    if (changesRoles) assertMaySetRoles(caller, before.roles, after.roles);
    else if (isChanged && givesWebmaster(before)) assertScope(caller.actor, 'webmasters');
    await this.assertUnique(tx, before, after);
    assertVersion(before, ifVersions);
    if (!isChanged) return before;
    const next = { ...after, updated: now(), version: before.version + 1 };
    await this.repository.update(tx, before, next);
    const withAllRoles = changesRoles ? { ...next, roles: [...before.roles, ...next.roles] } : next;
    await this.members.applyDelta(tx, withAllRoles, delta, caller);
    if (changesRoles) await this.members.updateAllGroupRoles(tx, uuid, caller);
    await this.recordAudit(tx, 'group.updated', uuid, changes, delta, caller);
    return next;
  }

  /**
   * Deletes a group permanently. Its members lose the roles of the group.
   * @throws any ProblemError that `update` throws.
   */
  async delete(tx: Sql, uuid: string, ifVersions: Versions, caller: Caller): Promise<void> {
    const before = await this.lock(tx, uuid);
    if (givesWebmaster(before)) assertScope(caller.actor, 'webmasters');
    assertVersion(before, ifVersions);
    const delta = { added: [], removed: await this.repository.listMembers(uuid, tx) };
    await this.members.applyDelta(tx, before, delta, caller);
    await this.repository.delete(tx, uuid);
    await this.recordAudit(tx, 'group.deleted', uuid, diffGroups(before, undefined), delta, caller);
  }

  private async lock(tx: Sql, uuid: string): Promise<Group> {
    const group = await this.repository.lock(tx, uuid);
    if (!group) throw createGroupNotFoundError(uuid);
    return group;
  }

  /**
   * Throws an error with the uuid of another group that has the same name or external id. If a concurrent transaction
   * takes the value, the unique index rejects the write and the transaction is retried.
   */
  private async assertUnique(tx: Sql, before: Group | undefined, after: Group): Promise<void> {
    const [old, row] = [before && toGroupRow(before), toGroupRow(after)];
    for (const [field, column] of UNIQUE) {
      const key = row[column];
      if (key === null || key === old?.[column]) continue;
      const owner = await this.repository.findUuidByKey(tx, column, key);
      if (owner !== undefined && owner !== after.uuid) throw createTakenError(field, owner);
    }
  }

  private async recordAudit(
    tx: Sql,
    action: AuditAction,
    uuid: string,
    changes: readonly FieldChange[],
    delta: MemberDelta,
    caller: Caller,
  ): Promise<void> {
    const target = { kind: 'group', id: uuid } as const;
    const [first, ...more] = toFieldChanges(delta);
    const lists = [[...changes, ...(first ? [first] : [])], ...more.map((row) => [row])];
    const events = lists.map((list) => ({ action, target, changes: list }));
    await recordEvents(tx, caller, events);
  }
}

export const createGroupNotFoundError = (uuid: string): ProblemError =>
  new ProblemError('not_found', `There is no group ${uuid}.`);

export const MAX_MEMBERS_PER_EVENT = 500;

/** Converts the changed members to field changes for the audit. Splits a list that is too long for one audit event. */
function toFieldChanges({ added, removed }: MemberDelta): FieldChange[] {
  if (removed.length > 0 && added.length > 0 && removed.length + added.length <= MAX_MEMBERS_PER_EVENT)
    return [{ field: 'members', old: removed, new: added }];
  const splitIntoParts = (users: readonly string[]) => [...chunkValues(users, MAX_MEMBERS_PER_EVENT)];
  return [
    ...splitIntoParts(removed).map((part) => ({ field: 'members', old: part, new: null })),
    ...splitIntoParts(added).map((part) => ({ field: 'members', old: null, new: part })),
  ];
}

/** Returns true for a group that clients can change or delete only with the scope `webmasters`. */
const givesWebmaster = ({ roles }: Group): boolean => roles.includes(WEBMASTER);

function assertMaySetRoles({ actor }: Caller, before: readonly string[], after: readonly string[]): void {
  assertScope(actor, 'webmasters');
  if (after.includes(WEBMASTER) && !before.includes(WEBMASTER)) assertConfirmed(actor);
}

function assertVersion({ version }: Group, ifVersions: Versions): void {
  if (!ifVersions || ifVersions.includes(version)) return;
  const detail = 'The group has changed since it was read. Read it again and repeat the change.';
  throw new ProblemError('precondition_failed', detail);
}

const UNIQUE = [
  ['display_name', 'display_name_key'],
  ['external_id', 'external_id'],
] as const;

function createTakenError(field: (typeof UNIQUE)[number][0], uuid: string): ProblemError {
  const noun = field === 'display_name' ? 'name' : 'external id';
  const detail = `Nothing was changed because another group has this ${noun}. Choose a different ${noun}.`;
  return new ProblemError(`${field}_taken`, detail, { conflicts: [{ field, uuid }] });
}
