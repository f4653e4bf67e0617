import { setImmediate } from 'node:timers/promises';
import type { GroupMembers } from '../../groups/group-members.service.js';
import { MemberChange } from '../../groups/member-change.js';
import { ProblemError } from '../../platform/common/errors.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import { type Filter, elementMatcher, namedValues } from '../protocol/filter.js';
import type { PatchStep } from '../protocol/patch.js';
import { valuesOf } from './group.mapping.js';

/**
 * Applies the steps of a PATCH to `members`, in order. Members are only read for a filter: by key for `value eq
 * "…"`, otherwise all of them.
 */
export class MemberPatch {
  private readonly change = new MemberChange();
  private seen = 0;

  /** @param limit maximum number of members that the filters of the PATCH may read */
  constructor(
    private readonly members: GroupMembers,
    private readonly tx: Sql,
    private readonly group: string,
    private readonly limit: number,
  ) {}

  /** @throws ProblemError `no_target`, `too_many` */
  async apply(steps: readonly PatchStep[]): Promise<MemberChange> {
    for (const { op, target, value } of steps) {
      const ids = valuesOf(value);
      if (target.filter) await this.applyChosen(op, ids, target.filter);
      else if (op === 'add') this.change.add(ids);
      else if (op === 'replace' || value === undefined) this.change.replace(ids);
      else this.change.remove(ids);
    }
    return this.change;
  }

  /**
   * Applies a step to the members that match a filter. A member is only an id, so a replacement removes the old
   * ids and adds the new ones.
   */
  private async applyChosen(op: PatchStep['op'], ids: readonly string[], filter: Filter): Promise<void> {
    const named = namedValues(filter)?.map((id) => id.toLowerCase());
    if (op === 'remove' && named) {
      this.change.remove(named);
      return;
    }
    const chosen = named ? await this.membersAmong(named) : await this.choose(filter);
    const there = chosen.filter((id) => this.change.keeps(id));
    if (op !== 'remove' && there.length === 0)
      throw new ProblemError('no_target', 'No element of members matches the filter of the path.');
    if (op !== 'add') this.change.remove(there);
    this.change.add(ids);
  }

  /** Returns the ids of users who are members, or were added by an earlier step. */
  private async membersAmong(ids: readonly string[]): Promise<string[]> {
    const members = await this.members.among(this.tx, this.group, ids);
    return ids.filter((id) => members.has(id) || this.change.added.has(id));
  }

  private async choose(filter: Filter): Promise<string[]> {
    const left = this.limit - this.seen;
    const members = await this.members.all(this.group, this.tx, left + 1);
    this.seen += members.length + this.change.added.size;
    if (this.seen > this.limit) {
      const detail = `The filters would check more than ${this.limit} members. Select them with value eq.`;
      throw new ProblemError('too_many', detail);
    }
    await setImmediate(); // lets other requests run, because SQLite works in this thread
    const isChosen = elementMatcher(filter);
    return [...members, ...this.change.added].filter((value) => isChosen({ value }));
  }
}
