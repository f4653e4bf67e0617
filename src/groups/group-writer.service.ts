import { Injectable } from '@nestjs/common';
import type { Caller } from '../access/actor.js';
import { assertScope } from '../access/policy.js';
import { WEBMASTER } from '../access/roles.js';
import type { AuditAction } from '../audit/audit-event.js';
import { AuditService } from '../audit/audit.service.js';
import type { FieldChange } from '../platform/common/field-changes.js';
import { ProblemError } from '../platform/common/errors.js';
import { now } from '../platform/common/time.js';
import type { Sql } from '../platform/database/engine/sql.js';
import { GroupMembers, type MemberMoves, NOBODY_MOVES } from './group-members.service.js';
import { GroupRepository } from './group.repository.js';
import { type Group, type GroupFields, groupDifferences, toGroupRow } from './group.js';
import type { MemberChange } from './member-change.js';

/** Checked values: in their form, and within their limits. */
export interface GroupChange {
  /** What is not named stays. @throws whatever refuses the change of this group. */
  fields: (current: Group) => GroupFields;
  /** Made in the transaction of the change, where it depends on the members that there are. */
  members?: (tx: Sql, current: Group) => MemberChange | Promise<MemberChange>;
  /** The versions that the client may have read (`If-Match`); with any other one the change is refused. */
  ifVersions?: readonly number[] | undefined;
}

/**
 * The one way in which groups change. Each method runs in the caller's transaction, which may run again after a race. The
 * row of the group is locked first: changes of one group take turns, and those of two groups share no row.
 */
@Injectable()
export class GroupWriter {
  constructor(
    private readonly repository: GroupRepository,
    private readonly members: GroupMembers,
    private readonly audit: AuditService,
  ) {}

  /** @throws ProblemError `display_name_taken`, `external_id_taken`, `validation_failed`; what the user writer refuses. */
  async create(
    tx: Sql,
    uuid: string,
    { display_name = '', external_id = '', roles = [] }: GroupFields,
    members: MemberChange | undefined,
    caller: Caller,
  ): Promise<Group> {
    const time = now();
    const group = { uuid, display_name, external_id, roles, created: time, updated: time, version: 1 };
    const moves = members ? await this.members.moves(tx, uuid, members) : NOBODY_MOVES;
    await this.assertFree(tx, undefined, group);
    assertMay(caller, group, moves);
    if (roles.length > 0) assertScope(caller.actor, 'webmasters');
    await this.repository.insert(tx, group);
    await this.members.apply(tx, group, moves, caller);
    await this.record(tx, 'group.created', uuid, groupDifferences(undefined, group), moves, caller);
    return group;
  }

  /**
   * @returns the group after the change; without a difference it is as it was, and nothing is recorded.
   * @throws ProblemError as `create`; `not_found`, `precondition_failed`.
   */
  async update(
    tx: Sql,
    uuid: string,
    { fields, members, ifVersions }: GroupChange,
    caller: Caller,
  ): Promise<Group> {
    const before = await this.locked(tx, uuid);
    const after = { ...before, ...fields(before) };
    const moves = members ? await this.members.moves(tx, uuid, await members(tx, before)) : NOBODY_MOVES;
    await this.assertFree(tx, before, after);
    assertVersion(before, ifVersions);
    const changes = groupDifferences(before, after);
    if (changes.length + moves.come.length + moves.gone.length === 0) return before;
    const gives = changes.some(({ field }) => field === 'roles');
    assertMay(caller, before, moves);
    if (gives) assertScope(caller.actor, 'webmasters');
    const next = { ...after, updated: now(), version: before.version + 1 };
    await this.repository.update(tx, before, next);
    await this.members.apply(
      tx,
      gives ? { ...next, roles: [...before.roles, ...next.roles] } : next,
      moves,
      caller,
    );
    if (gives) await this.members.settleAll(tx, uuid, caller);
    await this.record(tx, 'group.updated', uuid, changes, moves, caller);
    return next;
  }

  /** Deletes the group for good; its members lose its roles. @throws ProblemError as `update`. */
  async delete(
    tx: Sql,
    uuid: string,
    ifVersions: readonly number[] | undefined,
    caller: Caller,
  ): Promise<void> {
    const before = await this.locked(tx, uuid);
    assertVersion(before, ifVersions);
    const moves = { come: [], gone: await this.repository.allMembers(uuid, tx) };
    assertMay(caller, before, moves);
    await this.members.apply(tx, before, moves, caller);
    await this.repository.delete(tx, uuid);
    await this.record(tx, 'group.deleted', uuid, groupDifferences(before, undefined), moves, caller);
  }

  private async locked(tx: Sql, uuid: string): Promise<Group> {
    const group = await this.repository.lock(tx, uuid);
    if (!group) throw noGroup(uuid);
    return group;
  }

  /** Names the group that has a value. The unique index refuses it, also in a race, which runs again. */
  private async assertFree(tx: Sql, before: Group | undefined, after: Group): Promise<void> {
    const [old, row] = [before && toGroupRow(before), toGroupRow(after)];
    for (const [field, column] of UNIQUE) {
      const key = row[column];
      const owner =
        key === null || key === old?.[column] ? undefined : await this.repository.owner(tx, column, key);
      if (owner !== undefined && owner !== after.uuid) throw taken(field, owner);
    }
  }

  private async record(
    tx: Sql,
    action: AuditAction,
    uuid: string,
    changes: readonly FieldChange[],
    moves: MemberMoves,
    caller: Caller,
  ): Promise<void> {
    const target = { kind: 'group', id: uuid } as const;
    const [first, ...more] = memberChanges(moves);
    const lists = [[...changes, ...(first ? [first] : [])], ...more.map((row) => [row])];
    await this.audit.record(
      tx,
      caller,
      lists.map((list) => ({ action, target, changes: list })),
    );
  }
}

export const noGroup = (uuid: string): ProblemError =>
  new ProblemError('not_found', `There is no group ${uuid}.`);

/** Members in one event of the audit. */
export const MAX_LISTED = 500;

/** Who has gone as old and who has come as new, in rows of a bounded size. */
function memberChanges({ come, gone }: MemberMoves): FieldChange[] {
  const old = partsOf(gone).map((part) => ({ field: 'members', old: part, new: null }));
  const added = partsOf(come).map((part) => ({ field: 'members', old: null, new: part }));
  if (gone.length === 0 || come.length === 0 || gone.length + come.length > MAX_LISTED)
    return [...old, ...added];
  return [{ field: 'members', old: gone, new: come }];
}

const partsOf = (users: readonly string[]): (readonly string[])[] =>
  Array.from({ length: Math.ceil(users.length / MAX_LISTED) }, (_, part) =>
    users.slice(part * MAX_LISTED, (part + 1) * MAX_LISTED),
  );

/** Who decides about Webmasters decides who is a member of a group that makes them. @throws `insufficient_scope`. */
function assertMay({ actor }: Caller, { roles }: Group, { come, gone }: MemberMoves): void {
  if (roles.includes(WEBMASTER) && come.length + gone.length > 0) assertScope(actor, 'webmasters');
}

function assertVersion({ version }: Group, ifVersions: readonly number[] | undefined): void {
  if (!ifVersions || ifVersions.includes(version)) return;
  throw new ProblemError('precondition_failed', 'The group has changed since it was read.');
}

const UNIQUE = [
  ['display_name', 'display_name_key'],
  ['external_id', 'external_id'],
] as const;

function taken(field: (typeof UNIQUE)[number][0], uuid: string): ProblemError {
  const what = field === 'display_name' ? 'name' : 'external id';
  const detail = `Nothing was changed: another group has this ${what}.`;
  return new ProblemError(`${field}_taken`, detail, { conflicts: [{ field, uuid }] });
}
