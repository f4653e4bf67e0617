import { Injectable } from '@nestjs/common';
import type { Actor } from '../../access/actor.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import { UserDirectory } from '../../users/search/user-directory.service.js';
import { Resources } from '../discovery/resources.js';
import type { ScimObject } from '../protocol/attribute.js';
import { type ListQuery, listResponse, readListQuery } from '../protocol/list.js';
import { Projection } from '../protocol/projection.js';
import { hidesOperators } from '../http/key-rules.js';
import { toGroupResource } from './group.mapping.js';
import { GroupMembers } from '../../groups/group-members.service.js';
import type { Group } from '../../groups/group.js';
import { ScimGroupSearch } from './scim-group-search.service.js';

/** Which attributes an answer is to have, as a client asks for it. */
export interface GroupViewParameters extends Readonly<Record<string, unknown>> {
  attributes?: unknown;
  excludedAttributes?: unknown;
}

/** A page ends when it holds so many members. */
const MEMBERS_OF_PAGE = 10_000;
/** A PATCH of a group with more members has no body (RFC 7644, section 3.5.2): it would cost more than the change. */
const MEMBERS_OF_PATCH = 1000;
/** Groups whose members are read in one statement. */
const AT_ONCE = 25;

/** Groups as they are answered. Members are read only where they are wanted. */
@Injectable()
export class ScimGroupView {
  constructor(
    private readonly resources: Resources,
    private readonly members: GroupMembers,
    private readonly search: ScimGroupSearch,
    private readonly directory: UserDirectory,
  ) {}

  /** @throws ProblemError `invalid_value` where both parameters are set: before anything is written. */
  of(parameters: GroupViewParameters, actor: Actor): (group: Group, sql?: Sql) => Promise<ScimObject> {
    const shown = this.projection(parameters);
    return async (group, sql) => this.present(group, shown, actor, sql);
  }

  /** As `of`; the answer to a PATCH has no body where it would hold many members that nobody has asked for. */
  ofPatch(
    parameters: GroupViewParameters,
    actor: Actor,
  ): (group: Group, sql?: Sql) => Promise<ScimObject | undefined> {
    const shown = this.projection(parameters);
    return async (group, sql) => {
      const isAsked = shown.isChosen || !this.wantsMembers(shown);
      return isAsked || !(await this.members.hasMoreThan(group.uuid, MEMBERS_OF_PATCH, sql))
        ? this.present(group, shown, actor, sql)
        : undefined;
    };
  }

  locationOf({ uuid }: Group): string {
    return `${this.resources.base}/Groups/${uuid}`;
  }

  /** @throws ProblemError as `readListQuery` and `ScimGroupSearch.find`. */
  async list(parameters: GroupViewParameters, actor: Actor): Promise<ScimObject> {
    const query = readListQuery(parameters, this.resources.group);
    const { groups, total, next } = await this.page(query, actor);
    return listResponse({
      resources: groups,
      totalResults: total,
      ...(query.cursor === undefined ? { startIndex: query.startIndex } : next && { nextCursor: next }),
    });
  }

  /** The groups of a page, which ends early once it holds many members. */
  async page(
    query: ListQuery,
    actor: Actor,
  ): Promise<{ groups: readonly ScimObject[]; total: number; next: string | undefined }> {
    const hidden = await this.hidden(actor);
    const { rows: groups, last: lastOfMore, total, cursorAfter } = await this.search.find(query, hidden);
    const { projection: shown } = query;
    const whole = this.wantsMembers(shown)
      ? await this.withMembers(groups)
      : groups.map((group) => ({ group, members: undefined }));
    // A page that holds many members ends early.
    const last = whole.length < groups.length ? whole.at(-1)?.group : lastOfMore;
    return {
      groups: whole.map(({ group, members }) => shown.apply(this.resource(group, members, hidden))),
      total,
      next: last && cursorAfter(last),
    };
  }

  /** The first groups of a page, each with all its members, until they have many together. */
  private async withMembers(groups: readonly Group[]): Promise<{ group: Group; members: string[] }[]> {
    const found: { group: Group; members: string[] }[] = [];
    let count = 0;
    for (let from = 0; from < groups.length && count < MEMBERS_OF_PAGE; from += AT_ONCE) {
      const part = groups.slice(from, from + AT_ONCE);
      const together = await this.members.ofGroups(
        part.map(({ uuid }) => uuid),
        MEMBERS_OF_PAGE,
      );
      for (const group of part) {
        if (count >= MEMBERS_OF_PAGE) break;
        const members = together ? (together.get(group.uuid) ?? []) : await this.members.all(group.uuid);
        found.push({ group, members });
        count += members.length;
      }
    }
    return found;
  }

  private async present(
    group: Group,
    shown: Projection,
    actor: Actor,
    sql: Sql | undefined,
  ): Promise<ScimObject> {
    if (!this.wantsMembers(shown)) return shown.apply(this.resource(group));
    const members = await this.members.all(group.uuid, sql);
    return shown.apply(this.resource(group, members, await this.hidden(actor, sql)));
  }

  private resource(group: Group, members?: readonly string[], hidden?: ReadonlySet<string>): ScimObject {
    const shown = hidden && hidden.size > 0 ? members?.filter((uuid) => !hidden.has(uuid)) : members;
    return toGroupResource(group, shown, this.resources.base);
  }

  /** Members of whom a key without the scope `webmasters` learns nothing. */
  private async hidden(actor: Actor, sql?: Sql): Promise<ReadonlySet<string> | undefined> {
    return hidesOperators(actor) ? this.directory.operators(sql) : undefined;
  }

  private projection({ attributes, excludedAttributes }: GroupViewParameters): Projection {
    return new Projection(this.resources.group, { attributes, excludedAttributes });
  }

  private wantsMembers(shown: Projection): boolean {
    const members = this.resources.group.attribute('members');
    return members !== undefined && shown.wants(members);
  }
}
