import { isUuid } from '../platform/common/uuid.js';

/**
 * What a request makes of the members of a group: operations in their order become who comes and who goes, so that a group
 * of any size is changed without a look at the members that stay. What is no UUID is nobody, and left out.
 */
export class MemberChange {
  private readonly come = new Set<string>();
  private readonly go = new Set<string>();
  private isWhole = false;
  /** Users whom the change does not concern: they stay members, or stay none. */
  spared: ReadonlySet<string> = new Set();

  /** These and nobody else. */
  static to(ids: readonly string[]): MemberChange {
    const change = new MemberChange();
    change.replace(ids);
    return change;
  }

  add(ids: readonly string[]): void {
    for (const uuid of uuidsIn(ids)) {
      this.come.add(uuid);
      this.go.delete(uuid);
    }
  }

  remove(ids: readonly string[]): void {
    for (const uuid of uuidsIn(ids)) {
      this.come.delete(uuid);
      if (!this.isWhole) this.go.add(uuid);
    }
  }

  /** These and nobody else. */
  replace(ids: readonly string[]): void {
    this.isWhole = true;
    this.come.clear();
    this.go.clear();
    this.add(ids);
  }

  /** Whether `added` is everybody who is to be a member: only then the members that the group has must be known. */
  get replaces(): boolean {
    return this.isWhole;
  }

  /** Whether a member of before is one still. */
  keeps(uuid: string): boolean {
    return this.come.has(uuid) || (!this.isWhole && !this.go.has(uuid));
  }

  get added(): ReadonlySet<string> {
    return this.come;
  }

  /** Nobody where the members are replaced. */
  get removed(): ReadonlySet<string> {
    return this.go;
  }
}

const uuidsIn = (ids: readonly string[]): string[] =>
  ids.filter((id) => isUuid(id)).map((uuid) => uuid.toLowerCase());
