import { Injectable } from '@nestjs/common';
import { setImmediate } from 'node:timers/promises';
import type { Caller } from '../../access/actor.js';
import { type FieldError, ProblemError, validationFailed } from '../../platform/common/errors.js';
import { idMismatch, isUuid } from '../../platform/common/uuid.js';
import { Env } from '../../platform/config/env.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import { readInput } from '../../platform/input/read-input.js';
import { UserDirectory } from '../../users/search/user-directory.service.js';
import { Resources } from '../discovery/resources.js';
import { Deviations, hidesOperators, rulesOf } from '../http/key-rules.js';
import { quoted } from '../protocol/errors.js';
import { elementMatcher } from '../protocol/filter-match.js';
import type { Filter } from '../protocol/filter.js';
import { type ReadResource, readResource } from '../protocol/input.js';
import { readPatch } from '../protocol/read-patch.js';
import { applySteps } from '../protocol/apply-patch.js';
import { ROLLCALL_GROUP_SCHEMA } from '../protocol/urns.js';
import { GroupMembers } from '../../groups/group-members.service.js';
import { type KnownMembers, memberChange, separated } from './group-patch.js';
import { type SentGroup, sentGroup, toGroupResource } from './group.mapping.js';
import type { Group, GroupFields } from '../../groups/group.js';
import { GroupsService } from '../../groups/groups.service.js';
import { MemberChange } from '../../groups/member-change.js';
import { ScimGroupInput } from './scim-group.input.js';

const ROLES = `${ROLLCALL_GROUP_SCHEMA}:roles`;

/** Groups for identity providers: every change goes through `GroupWriter`. */
@Injectable()
export class ScimGroups {
  constructor(
    private readonly groups: GroupsService,
    private readonly members: GroupMembers,
    private readonly directory: UserDirectory,
    private readonly resources: Resources,
    private readonly deviations: Deviations,
    private readonly env: Env,
  ) {}

  /** @throws ProblemError `not_found`, also for an id that is none. */
  async get(id: string): Promise<Group> {
    return this.groups.get(uuidOf(id));
  }

  /** @throws ProblemError `validation_failed`; as `GroupWriter.create`. */
  async create(body: unknown, caller: Caller): Promise<Group> {
    const read = this.read(body, caller);
    const sent = sentGroup(read.resource);
    const fields = this.checked(sent, read.errors);
    const members = sent.members && (await this.sparing(MemberChange.to(sent.members), caller));
    return this.groups.create(fields, members, caller);
  }

  /**
   * What a PUT omits is unassigned, members and roles aside; midPoint's, which has only what has changed, leaves it alone.
   * @throws ProblemError `validation_failed`; as `GroupWriter.update`.
   */
  async replace(
    id: string,
    body: unknown,
    caller: Caller,
    ifVersions: readonly number[] | undefined,
  ): Promise<Group> {
    const read = this.read(body, caller);
    const { unassigned } = read;
    const keeps = rulesOf(caller.actor).keepsOmitted;
    const sent = sentGroup(read.resource);
    const errors = [...read.errors, ...idMismatch('id', read.id || undefined, id)];
    const fields = (current: Group): GroupFields => {
      const stays = (name: string) => keeps && !unassigned.has(name);
      const whole: SentGroup = {
        ...sent,
        displayName: sent.displayName ?? (stays('displayName') ? current.display_name : undefined),
        externalId: sent.externalId ?? (stays('externalId') ? current.external_id : undefined),
        ...(unassigned.has(ROLES) && { roles: [] }),
      };
      return this.checked(whole, errors);
    };
    const members = sent.members ?? (unassigned.has('members') ? [] : undefined);
    const moves = members && ((tx: Sql) => this.sparing(MemberChange.to(members), caller, tx));
    return this.groups.change(uuidOf(id), { fields, ifVersions, ...(moves && { members: moves }) }, caller);
  }

  /** @throws ProblemError as `readPatch` and `applySteps`; `validation_failed`; as `GroupWriter.update`. */
  async patch(
    id: string,
    body: unknown,
    caller: Caller,
    ifVersions: readonly number[] | undefined,
  ): Promise<Group> {
    const resource = this.resources.group;
    const deviation = this.deviations.of(caller.actor);
    const ignoreUnknown = rulesOf(caller.actor).ignoresUnknown;
    const steps = readPatch(body, { resource, ignoreUnknown, deviation });
    const { ofMembers, others } = separated(steps, resource.attribute('members'));
    const fields = (current: Group): GroupFields => {
      if (others.length === 0) return {};
      const after = sentGroup(applySteps(toGroupResource(current, undefined, ''), others, { deviation }));
      const gives = others.some(({ target }) => target.attribute.schema !== undefined);
      return this.checked({ ...after, roles: gives ? (after.roles ?? []) : undefined }, []);
    };
    const members = async (tx: Sql, { uuid }: Group) =>
      this.sparing(await memberChange(ofMembers, this.known(tx, uuid)), caller, tx);
    return this.groups.change(
      uuidOf(id),
      { fields, ifVersions, ...(ofMembers.length > 0 && { members }) },
      caller,
    );
  }

  async delete(id: string, ifVersions: readonly number[] | undefined, caller: Caller): Promise<void> {
    await this.groups.delete(uuidOf(id), ifVersions, caller);
  }

  private read(body: unknown, { actor }: Caller): ReadResource {
    return readResource(body, this.resources.group, this.deviations.of(actor));
  }

  /** The values in their form. @param broken what else is wrong with the request. @throws `validation_failed`. */
  private checked({ displayName, externalId, roles }: SentGroup, broken: readonly FieldError[]): GroupFields {
    const { value, errors } = readInput(ScimGroupInput, {
      ...(displayName !== undefined && { displayName }),
      ...(externalId !== undefined && { externalId }),
      ...(roles && { roles }),
    });
    const valid = this.groups.validateRoles(value, errors);
    const all = [...broken, ...errors, ...valid.errors];
    if (all.length > 0) throw validationFailed(all);
    return {
      display_name: value.displayName,
      external_id: value.externalId ?? '',
      ...(roles && { roles: valid.roles ?? [] }),
    };
  }

  /** Of local operators a key without the scope `webmasters` learns nothing, and so it does not move them. */
  private async sparing(change: MemberChange, { actor }: Caller, sql?: Sql): Promise<MemberChange> {
    if (hidesOperators(actor)) change.spared = await this.directory.operators(sql);
    return change;
  }

  /** For one PATCH: all of its filters together look at as many members as one filter of a list may look at users. */
  private known(tx: Sql, group: string): KnownMembers {
    const limit = this.env.SCIM_SCAN_LIMIT;
    let left = limit;
    return {
      among: (ids) => this.members.among(tx, group, ids),
      chosen: async (filter, more) => {
        const members = await this.members.all(group, tx, left + 1);
        left -= members.length + more.size;
        if (left < 0) throw tooMany(limit);
        await setImmediate(); // others have their turn: SQLite works in this thread
        return chosenBy(filter, [...members, ...more]);
      },
    };
  }
}

function chosenBy(filter: Filter, ids: readonly string[]): string[] {
  const isChosen = elementMatcher(filter);
  return ids.filter((value) => isChosen({ value }));
}

function uuidOf(id: string): string {
  if (isUuid(id)) return id.toLowerCase();
  throw new ProblemError('not_found', `There is no group ${quoted(id)}.`);
}

const tooMany = (limit: number): ProblemError =>
  new ProblemError('too_many', `The filters look at more than ${limit} members: name them with value eq.`);
