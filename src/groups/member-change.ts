import { isUuid } from '../platform/common/uuid.js';

/**
 * A change of the members of a group, as users to add and users to remove. It does not require reading the other
 * members. Ids that are not UUIDs are ignored.
 */
export class MemberChange {
  private readonly toAdd = new Set<string>();
  private readonly toRemove = new Set<string>();
  private isReplacing = false;
  /** Users whose memberships this change must not add or remove. */
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

  /** True if the users in `added` replace all members of the group. Only then are the current members needed. */
  get isReplacement(): boolean {
    return this.isReplacing;
  }

  /** Returns true if a user who is a member before the change is still a member after it. */
  isStillMember(uuid: string): boolean {
    return this.toAdd.has(uuid) || (!this.isReplacing && !this.toRemove.has(uuid));
  }

  get added(): ReadonlySet<string> {
    return this.toAdd;
  }

  /** Users to remove. Empty if `isReplacement` is true. */
  get removed(): ReadonlySet<string> {
    return this.toRemove;
  }
}

const parseUuids = (ids: readonly string[]): string[] =>
  ids.filter((id) => isUuid(id)).map((uuid) => uuid.toLowerCase());
