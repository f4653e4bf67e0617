import { isUuid } from '../platform/common/uuid.js';

/** Users to add to a group and users to remove from it. Ids that are not UUIDs are ignored. */
export class MemberChange {
  private readonly toAdd = new Set<string>();
  private readonly toRemove = new Set<string>();
  private isReplacing = false;
  /** Users whom this change neither adds nor removes, even if they are listed. */
  ignoredUsers: ReadonlySet<string> = new Set();

  static createReplacement(ids: readonly string[]): MemberChange {
    const change = new MemberChange();
    change.replace(ids);
    return change;
  }

  add(ids: readonly string[]): void {
    for (const uuid of parseUuids(ids)) {
      this.toAdd.add(uuid);
      this.toRemove.delete(uuid);
    }
  }

  remove(ids: readonly string[]): void {
    for (const uuid of parseUuids(ids)) {
      this.toAdd.delete(uuid);
      if (!this.isReplacing) this.toRemove.add(uuid);
    }
  }

  replace(ids: readonly string[]): void {
    this.isReplacing = true;
    this.toAdd.clear();
    this.toRemove.clear();
    this.add(ids);
  }

  /** True if the users in `added` replace all members of the group. */
  get isReplacement(): boolean {
    return this.isReplacing;
  }

  /** Returns true if a current member with this uuid is still a member after the change. */
  isStillMember(uuid: string): boolean {
    return this.toAdd.has(uuid) || (!this.isReplacing && !this.toRemove.has(uuid));
  }

  get added(): ReadonlySet<string> {
    return this.toAdd;
  }

  get removed(): ReadonlySet<string> {
    return this.toRemove;
  }
}

const parseUuids = (ids: readonly string[]): string[] =>
  ids.filter((id) => isUuid(id)).map((uuid) => uuid.toLowerCase());
