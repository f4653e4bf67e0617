import { isUuid } from '../platform/common/uuid.js';

/**
 * A change of the members of a group. It combines several operations into the users to add and the users to remove, so
 * that other members need not be read. Ids that are not UUIDs are ignored.
 */
export class MemberChange {
  private readonly toAdd = new Set<string>();
  private readonly toRemove = new Set<string>();
  private isReplacing = false;
  /** Users whose memberships this change neither adds nor removes. */
  ignoredUsers: ReadonlySet<string> = new Set();

  /** Creates a change that replaces all members by the users with the given ids. */
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

  /**
   * True if the users in `added` replace all members of the group. Only in this case must the current members be read.
   */
  get isReplacement(): boolean {
    return this.isReplacing;
  }

  /** Returns true if a user who is a member before the change is still a member after it. */
  isKept(uuid: string): boolean {
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
