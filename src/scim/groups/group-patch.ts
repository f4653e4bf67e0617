import type { GroupMembers } from '../../groups/group-members.service.js';
import { MemberChange } from '../../groups/member-change.js';
import { ProblemError } from '../../platform/common/errors.js';
import { filterInBatches } from '../../platform/common/time-slice.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import { type Filter, buildElementMatcher, getComparedValues } from '../protocol/filter.js';
import type { PatchStep } from '../protocol/patch.js';
import { listElementValues } from './group.mapping.js';

/**
 * Applies the steps of a PATCH to `members`, one after another. Reads members only if a step has a filter.
 * For the filter `value eq "…"`, reads only the members in the filter.
 */
export class MemberPatch {
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
