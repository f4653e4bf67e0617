import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { Caller } from '../access/actor.js';
import { assertScope } from '../access/policy.js';
import { type FieldError, createValidationError } from '../platform/common/errors.js';
import { now } from '../platform/common/time.js';
import { findIdMismatch } from '../platform/common/uuid.js';
import { type Clause, toClause } from '../platform/database/engine/sql.js';
import { truncateToPage, encodeCursor, parsePageWindow } from '../platform/database/keyset-pages.js';
import { TransactionRunner } from '../platform/database/transaction-runner.js';
import type { CheckedInput } from '../platform/input/read-input.js';
import type { Versions } from '../platform/http/entity-tags.js';
import { UserSettings } from '../users/rules/user-settings.js';
import { applyConfiguredRules, createEmptyUser, validateWholeUser } from '../users/rules/user-rules.js';
import { toLoginKey } from '../users/model/comparison-keys.js';
import { GroupSearch, createGroupOrder, createPositionGetter } from './group-search.service.js';
import { type GroupChange, GroupWriter, createGroupNotFoundError } from './group-writer.service.js';
import type { GroupRolesInput } from './group.input.js';
import { type GroupMembersQuery, type GroupQuery, MAX_MEMBERS } from './group.query.js';
import { GroupRepository } from './group.repository.js';
import type { Group, GroupFields } from './group.js';
import type { MemberChange } from './member-change.js';

export type GroupDetails = Awaited<ReturnType<GroupsService['getDetails']>>;

@Injectable()
export class GroupsService {
  constructor(
    private readonly repository: GroupRepository,
    private readonly searcher: GroupSearch,
    private readonly writer: GroupWriter,
    private readonly transactions: TransactionRunner,
    private readonly settings: UserSettings,
  ) {}

  /** @throws ProblemError `invalid_parameter`. */
  async list(query: GroupQuery): Promise<{ count: number; groups: Group[]; next: string | undefined }> {
    const { sort, order } = query;
    const pageOrder = createGroupOrder(sort, order);
    const list = ['', sort, order];
    const place = parsePageWindow(query, list, pageOrder.ranges);
    const conditions = toConditions(query);
    const count = await this.searcher.count(conditions);
    const { rows, last } = await this.searcher.readPage(conditions, pageOrder, place, count);
    const next = last && encodeCursor(list, pageOrder.ranges, createPositionGetter(pageOrder)(last));
    return { count, groups: rows, next };
  }

  /** @throws ProblemError `not_found`. */
  async get(uuid: string): Promise<Group> {
    const group = await this.repository.find(uuid);
    if (!group) throw createGroupNotFoundError(uuid);
    return group;
  }

  /**
   * Reads a group with a page of its members.
   * @returns `next` is the value of `after` for the next page, or undefined on the last page.
   * @throws ProblemError `not_found`.
   */
  async getDetails(uuid: string, query: GroupMembersQuery) {
    const group = await this.get(uuid);
    const limit = Math.min(query.limit, MAX_MEMBERS);
    const found = await this.repository.readMembers(uuid, query.after?.toLowerCase() ?? '', limit + 1);
    const count = await this.repository.countMembers(uuid);
    const { rows: members, last: next } = truncateToPage(found, limit);
    return { group, count, members, next };
  }

  async create(fields: GroupFields, members: MemberChange | undefined, caller: Caller): Promise<Group> {
    const uuid = uuidv7();
    return this.transactions.run((tx) => this.writer.create(tx, uuid, fields, members, caller), caller);
  }

  async change(uuid: string, change: GroupChange, caller: Caller): Promise<Group> {
    return this.transactions.run((tx) => this.writer.update(tx, uuid, change, caller), caller);
  }

  async delete(uuid: string, ifVersions: Versions, caller: Caller): Promise<void> {
    await this.transactions.run((tx) => this.writer.delete(tx, uuid, ifVersions, caller), caller);
  }

  /**
   * Sets the roles that the members of a group get.
   * @throws ProblemError `insufficient_scope` if the caller lacks the scope `webmasters`, or an error of
   * `GroupWriter.update`.
   */
  async setRoles(
    uuid: string,
    { value, errors }: CheckedInput<GroupRolesInput>,
    ifVersions: Versions,
    caller: Caller,
  ): Promise<Group> {
    assertScope(caller.actor, 'webmasters');
    const current = await this.get(uuid);
    const { roles, errors: roleErrors } = this.validateRoles(value, errors);
    const allErrors = [...errors, ...roleErrors, ...findReadOnlyErrors(value, current)];
    if (allErrors.length > 0) throw createValidationError(allErrors);
    return this.change(uuid, { toFields: () => ({ roles: roles ?? [] }), ifVersions }, caller);
  }

  /**
   * Validates the roles of a group by the same rules as the roles of a user.
   * @returns the canonical names of the roles, and the errors.
   */
  validateRoles(
    sent: { roles?: string[] | null },
    knownErrors: readonly FieldError[],
  ): { roles: readonly string[] | null | undefined; errors: FieldError[] } {
    const { input, errors } = applyConfiguredRules(sent, knownErrors, this.settings);
    const { roles } = input;
    if (errors.length > 0 || knownErrors.some(({ field }) => field === 'roles') || !roles)
      return { roles, errors };
    return { roles, errors: validateWholeUser({ ...createEmptyUser('', now()), roles }) };
  }
}

function toConditions({ display_name, external_id, user_uuid }: GroupQuery): Clause[] {
  const conditions: Clause[] = [];
  if (display_name !== undefined)
    conditions.push(toClause('u.display_name_key = ?', toLoginKey(display_name)));
  if (external_id !== undefined) conditions.push(toClause('u.external_id = ?', external_id));
  const ofUser = 'u.uuid IN (SELECT group_uuid FROM group_members WHERE user_uuid = ?)';
  if (user_uuid !== undefined) conditions.push(toClause(ofUser, user_uuid.toLowerCase()));
  return conditions;
}

function findReadOnlyErrors(sent: GroupRolesInput, group: Group): FieldError[] {
  const errors = findIdMismatch('uuid', sent.uuid, group.uuid);
  for (const field of ['display_name', 'external_id'] as const) {
    if (sent[field] === undefined || (sent[field] ?? '') === group[field]) continue;
    errors.push({ field, code: 'invalid_value', message: 'can be changed only over SCIM' });
  }
  return errors;
}
