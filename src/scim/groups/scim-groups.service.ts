import { Injectable } from '@nestjs/common';
import { IsNotEmpty } from 'class-validator';
import type { Caller } from '../../access/actor.js';
import { GroupMembers } from '../../groups/group-members.service.js';
import { type Group, type GroupFields, MAX_GROUP_EXTERNAL_ID, MAX_GROUP_NAME } from '../../groups/group.js';
import { GroupsService } from '../../groups/groups.service.js';
import { MemberChange } from '../../groups/member-change.js';
import { type FieldError, createValidationError, ProblemError } from '../../platform/common/errors.js';
import type { Versions } from '../../platform/http/entity-tags.js';
import { findIdMismatch } from '../../platform/common/uuid.js';
import { Env } from '../../platform/config/env.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import { readInput } from '../../platform/input/read-input.js';
import { Normalize, Required, normalizeLineInput } from '../../platform/input/field-rules.js';
import { Metrics } from '../../platform/telemetry/metrics.js';
import { Line, Roles } from '../../users/rules/fields.js';
import { UserDirectory } from '../../users/search/user-directory.service.js';
import { Resources } from '../discovery/resources.js';
import { createDeviationCounter, shouldHideOperators, rulesOf } from '../http/profile-rules.js';
import { type ReadResource, readResource } from '../protocol/input.js';
import { applySteps, assertRequiredKept, readPatch, type PatchStep } from '../protocol/patch.js';
import { ROLLCALL_GROUP_SCHEMA } from '../protocol/urns.js';
import { type SentGroup, toSentGroup, toGroupResource, listElementValues } from './group.mapping.js';
import { filterInBatches } from '../../platform/common/time-slice.js';
import { type Filter, buildElementMatcher, getComparedValues } from '../protocol/filter.js';

/** The fields of a group with their SCIM names. Texts are validated like the text fields of users. */
class ScimGroupInput {
  @Required()
  @Line({ max: MAX_GROUP_NAME, example: 'Newsroom' })
  @Normalize(normalizeLineInput)
  @IsNotEmpty()
  displayName!: string;

  @Line({ max: MAX_GROUP_EXTERNAL_ID, example: 'f2c1d7a8' })
  externalId?: string | null;

  @Roles({ example: ['Editor'] })
  roles?: string[] | null;
}

/** Reads and changes groups for identity providers. Every change goes through `GroupWriter`. */
@Injectable()
export class ScimGroups {
  constructor(
    private readonly groups: GroupsService,
    private readonly members: GroupMembers,
    private readonly directory: UserDirectory,
    private readonly resources: Resources,
    private readonly metrics: Metrics,
    private readonly env: Env,
  ) {}

  /** @throws ProblemError `not_found`, also for an id that is not a UUID. */
  async get(id: string): Promise<Group> {
    return this.groups.get(this.resources.group.parseId(id));
  }

  /** @throws ProblemError `validation_failed`, or an error of `GroupWriter.create`. */
  async create(body: unknown, caller: Caller): Promise<Group> {
    const { resource, errors } = await this.readBody(body, caller);
    const sent = toSentGroup(resource);
    const fields = this.validate(sent, errors);
    const members = sent.members && (await this.replaceMembers(sent.members, caller));
    return this.groups.create(fields, members, caller);
  }

  /**
   * Replaces a group. Attributes that the body omits are unassigned, except for members and roles. With the profile
   * `midpoint`, which sends only changes, all omitted attributes are retained.
   * @throws ProblemError `validation_failed`, or an error of `GroupWriter.update`.
   */
  async replace(id: string, body: unknown, caller: Caller, ifVersions: Versions): Promise<Group> {
    const { resource, unassigned, ...read } = await this.readBody(body, caller);
    const sent = toSentGroup(resource);
    const errors = [...read.errors, ...findIdMismatch('id', read.id || undefined, id)];
    const keeps = rulesOf(caller.actor).keepsOmitted;
    const retainIfOmitted = (name: string, value: string) =>
      keeps && !unassigned.has(name) ? value : undefined;
    const toFields = ({ display_name, external_id }: Group): GroupFields =>
      this.validate(
        {
          ...sent,
          displayName: sent.displayName ?? retainIfOmitted('displayName', display_name),
          externalId: sent.externalId ?? retainIfOmitted('externalId', external_id),
          ...(unassigned.has(`${ROLLCALL_GROUP_SCHEMA}:roles`) && { roles: [] }),
        },
        errors,
      );
    const ids = sent.members ?? (unassigned.has('members') ? [] : undefined);
    const toMembers = ids && ((tx: Sql) => this.replaceMembers(ids, caller, tx));
    const change = { toFields, ifVersions, ...(toMembers && { toMembers }) };
    return this.groups.change(this.resources.group.parseId(id), change, caller);
  }

  /** @throws ProblemError `validation_failed`, or an error of `readPatch`, `applySteps` or `GroupWriter.update`. */
  async patch(id: string, body: unknown, caller: Caller, ifVersions: Versions): Promise<Group> {
    const resource = this.resources.group;
    const countDeviation = createDeviationCounter(this.metrics, caller.actor);
    const ignoreUnknown = rulesOf(caller.actor).ignoresUnknown;
    const steps = await readPatch(body, { resource, ignoreUnknown, countDeviation });
    // Applies the steps on `members` separately, because the other steps then do not need the list of all members.
    const isMemberStep = ({ target }: (typeof steps)[number]) => target.attribute.name === 'members';
    const memberSteps = steps.filter(isMemberStep);
    const others = steps.filter((step) => !isMemberStep(step));
    const toFields = (current: Group): GroupFields => {
      if (others.length === 0) return {};
      const patched = applySteps(toGroupResource(current, '', ''), others, { countDeviation });
      assertRequiredKept(patched, others);
      const after = toSentGroup(patched);
      const setsRoles = others.some(({ target }) => target.attribute.schema !== undefined);
      return this.validate({ ...after, roles: setsRoles ? (after.roles ?? []) : undefined }, []);
    };
    const toMembers = async (tx: Sql, { uuid }: Group) => {
      const patch = new MemberPatch(this.members, tx, uuid, this.env.SCIM_SCAN_LIMIT);
      return this.ignoreHiddenOperators(await patch.apply(memberSteps), caller, tx);
    };
    const change = { toFields, ifVersions, ...(memberSteps.length > 0 && { toMembers }) };
    return this.groups.change(this.resources.group.parseId(id), change, caller);
  }

  async delete(id: string, caller: Caller, ifVersions: Versions): Promise<undefined> {
    await this.groups.delete(this.resources.group.parseId(id), ifVersions, caller);
  }

  private readBody(body: unknown, { actor }: Caller): Promise<ReadResource> {
    return readResource(body, this.resources.group, createDeviationCounter(this.metrics, actor));
  }

  /**
   * Validates and normalizes the fields of a group.
   * @param wrong errors that were found while the request was read
   * @throws ProblemError `validation_failed`
   */
  private validate({ displayName, externalId, roles }: SentGroup, wrong: readonly FieldError[]): GroupFields {
    const { value, errors } = readInput(ScimGroupInput, { displayName, externalId, roles });
    const valid = this.groups.validateRoles(value, errors);
    const all = [...wrong, ...errors, ...valid.errors];
    if (all.length > 0) throw createValidationError(all);
    return {
      display_name: value.displayName,
      external_id: value.externalId ?? '',
      ...(roles && { roles: valid.roles ?? [] }),
    };
  }

  private async replaceMembers(ids: readonly string[], caller: Caller, sql?: Sql): Promise<MemberChange> {
    return this.ignoreHiddenOperators(await MemberChange.createReplacement(ids), caller, sql);
  }

  /** Prevents a key without the scope `webmasters` from adding or removing local operators. */
  private async ignoreHiddenOperators(
    change: MemberChange,
    { actor }: Caller,
    sql?: Sql,
  ): Promise<MemberChange> {
    if (shouldHideOperators(actor)) change.ignoredUsers = await this.directory.findOperatorUuids(sql);
    return change;
  }
}

/**
 * Applies the steps of a PATCH to `members`, one after another. Reads members only if a step has a filter.
 * For the filter `value eq "…"`, reads only the members in the filter.
 */
class MemberPatch {
  private readonly change = new MemberChange();
  private checkedMembers = 0;

  /** @param limit maximum number of members that may be read for the filters of the PATCH */
  constructor(
    private readonly members: GroupMembers,
    private readonly tx: Sql,
    private readonly group: string,
    private readonly limit: number,
  ) {}

  /** @throws ProblemError `no_target`, `too_many` */
  async apply(steps: readonly PatchStep[]): Promise<MemberChange> {
    for (const { op, target, value, unset = [] } of steps) {
      const ids = listElementValues(value);
      if (target.filter) await this.applyFiltered(unset.length > 0 ? 'remove' : op, ids, target.filter);
      else if (op === 'add') await this.change.add(ids);
      else if (op === 'replace' || value === undefined) await this.change.replace(ids);
      else await this.change.remove(ids);
    }
    return this.change;
  }

  /**
   * Applies a step to the members that match its filter. A member consists only of an id, so `replace` with ids removes
   * the matching members and adds the ids in the request.
   */
  private async applyFiltered(op: PatchStep['op'], ids: readonly string[], filter: Filter): Promise<void> {
    const named = getComparedValues(filter)?.map((id) => id.toLowerCase());
    if (op === 'remove' && named) {
      await this.change.remove(named);
      return;
    }
    const selected = named ? await this.filterMembers(named) : await this.selectMembers(filter);
    const remaining = await filterInBatches(selected, (id) => this.change.isStillMember(id));
    if (op !== 'remove' && remaining.length === 0)
      throw new ProblemError('no_target', 'No member matches the filter in the path.');
    if (op === 'remove' || (op === 'replace' && ids.length > 0)) await this.change.remove(remaining);
    await this.change.add(ids);
  }

  private async filterMembers(ids: readonly string[]): Promise<string[]> {
    const members = await this.members.filterMembers(this.tx, this.group, ids);
    return ids.filter((id) => members.has(id) || this.change.added.has(id));
  }

  private async selectMembers(filter: Filter): Promise<string[]> {
    const left = this.limit - this.checkedMembers;
    const members = await this.members.listMembers(this.group, this.tx, left + 1);
    this.checkedMembers += members.length + this.change.added.size;
    if (this.checkedMembers > this.limit) {
      const detail = `The filters would check more than ${this.limit} members. Select members by id, with value eq.`;
      throw new ProblemError('too_many', detail);
    }
    const isSelected = buildElementMatcher(filter);
    return filterInBatches([...members, ...this.change.added], (value) => isSelected({ value }));
  }
}
