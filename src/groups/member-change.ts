import { isUuid } from '../platform/common/uuid.js';

/** Users to add to a group and users to remove from it. Ids that are not UUIDs are ignored. */
export class MemberChange {
  readonly added = new Set<string>();
  readonly removed = new Set<string>();
  /** True if the users in `added` replace all members of the group. */
  isReplacement = false;
  /** Users whom this change neither adds nor removes, even if they are listed. */
  ignoredUsers: ReadonlySet<string> = new Set();

  static createReplacement(ids: readonly string[]): MemberChange {
    const change = new MemberChange();
    change.replace(ids);
    return change;
  }

  add(ids: readonly string[]): void {
    for (const uuid of parseUuids(ids)) {
      this.added.add(uuid);
      this.removed.delete(uuid);
    }
  }

  remove(ids: readonly string[]): void {
    for (const uuid of parseUuids(ids)) {
      this.added.delete(uuid);
      if (!this.isReplacement) this.removed.add(uuid);
    }
  }

  replace(ids: readonly string[]): void {
    this.isReplacement = true;
    this.added.clear();
    this.removed.clear();
    this.add(ids);
  }

  /** Returns true if a current member with this uuid is still a member after the change. */
  isStillMember(uuid: string): boolean {
    return this.added.has(uuid) || (!this.isReplacement && !this.removed.has(uuid));
  }
}

const parseUuids = (ids: readonly string[]): string[] =>
  ids.filter((id) => isUuid(id)).map((uuid) => uuid.toLowerCase());
