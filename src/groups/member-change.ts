import { TimeSlice, toBatches } from '../platform/common/time-slice.js';
import { isUuid } from '../platform/common/uuid.js';

/** Users to add to a group and users to remove from it. Ids that are not UUIDs are ignored. */
export class MemberChange {
  readonly added = new Set<string>();
  readonly removed = new Set<string>();
  private readonly slice = new TimeSlice();
  /** True if the users in `added` replace all members of the group. */
  isReplacement = false;
  /** Users whom this change neither adds nor removes, even if they are listed. */
  ignoredUsers: ReadonlySet<string> = new Set();

  static async createReplacement(ids: readonly string[]): Promise<MemberChange> {
    const change = new MemberChange();
    await change.replace(ids);
    return change;
  }

  async add(ids: readonly string[]): Promise<void> {
    for await (const part of toBatches(ids, undefined, this.slice))
      for (const uuid of parseUuids(part)) {
        this.added.add(uuid);
        this.removed.delete(uuid);
      }
  }

  async remove(ids: readonly string[]): Promise<void> {
    for await (const part of toBatches(ids, undefined, this.slice))
      for (const uuid of parseUuids(part)) {
        this.added.delete(uuid);
        if (!this.isReplacement) this.removed.add(uuid);
      }
  }

  async replace(ids: readonly string[]): Promise<void> {
    this.isReplacement = true;
    this.added.clear();
    this.removed.clear();
    await this.add(ids);
  }

  /** Returns true if a current member with this uuid is still a member after the change. */
  isStillMember(uuid: string): boolean {
    return this.added.has(uuid) || (!this.isReplacement && !this.removed.has(uuid));
  }
}

const parseUuids = (ids: readonly string[]): string[] =>
  ids.filter((id) => isUuid(id)).map((uuid) => uuid.toLowerCase());
