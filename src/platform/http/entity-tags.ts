/** An entity tag with a version. Identity providers send it with and without `W/`. */
const WEAK_TAG = /^(?:W\/)?"(\d{1,9})(-\d+)?"$/i;

/**
 * Creates and reads the entity tags of one epoch. A version is unique only within an epoch, because a restored database
 * counts the same versions again.
 */
export class EntityTags {
  /** End of each tag: `-<epoch>`, or an empty string in epoch 0. */
  readonly suffix: string;

  constructor(epoch: number) {
    this.suffix = epoch === 0 ? '' : `-${epoch}`;
  }

  /** Returns the weak entity tag of a version, used in `ETag` and in SCIM's `meta.version` (RFC 7644, section 3.14). */
  weakTagOf({ version }: { version: number }): string {
    return `W/"${version}${this.suffix}"`;
  }

  /**
   * Returns the versions that an `If-Match` header accepts, or undefined if it accepts all versions (`*`, or no header).
   * @param pattern matches an entity tag, with the version and the suffix as its groups. Ignores tags that do not match,
   * and tags of another epoch.
   */
  parseIfMatch(ifMatch: string | undefined, pattern = WEAK_TAG): number[] | undefined {
    if (ifMatch === undefined || ifMatch.trim() === '*') return undefined;
    return ifMatch.split(',').flatMap((each) => {
      const [, version, suffix = ''] = pattern.exec(each.trim()) ?? [];
      return version === undefined || suffix !== this.suffix ? [] : [Number(version)];
    });
  }

  includesVersion(ifNoneMatch: string | undefined, version: number): boolean {
    if (ifNoneMatch === undefined) return false;
    return this.parseIfMatch(ifNoneMatch)?.includes(version) ?? true;
  }
}
