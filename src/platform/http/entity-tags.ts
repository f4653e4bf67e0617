import type { Response } from 'express';

/** An entity tag with a version. Identity providers send it with and without `W/`. */
const WEAK_TAG = /^(?:W\/)?"(\d{1,9})(-\d+)?"$/i;

/** Versions that `If-Match` allows. Undefined if every version is allowed. */
export type Versions = readonly number[] | undefined;

/**
 * Creates and reads the entity tags of one epoch. A version is unique only within an epoch, because a restored database
 * counts the same versions again.
 */
export class EntityTags {
  /** End of each tag: `-<epoch>`, or an empty string in epoch 0. */
  readonly suffix = this.epoch === 0 ? '' : `-${this.epoch}`;

  constructor(private readonly epoch: number) {}

  /** Returns the weak entity tag of a version, used in `ETag` and in SCIM's `meta.version` (RFC 7644, section 3.14). */
  weakTagOf({ version }: { version: number }): string {
    return `W/"${version}${this.suffix}"`;
  }

  /** Sets the weak entity tag of a record as the ETag of the response to its change. */
  applyWeakTag(response: Response, record: { version: number }): Response {
    return response.setHeader('ETag', this.weakTagOf(record));
  }

  /**
   * Returns the versions that an `If-Match` header accepts, or undefined if all versions are accepted (`*`, no header).
   * Ignores tags of another epoch and tags that do not match `pattern`.
   * @param pattern matches an entity tag, with the version and the suffix as its groups.
   */
  parseIfMatch(ifMatch: string | undefined, pattern = WEAK_TAG): Versions {
    if (ifMatch === undefined || ifMatch.trim() === '*') return undefined;
    return ifMatch.split(',').flatMap((each) => {
      const [, version, suffix = ''] = pattern.exec(each.trim()) ?? [];
      return version === undefined || suffix !== this.suffix ? [] : [Number(version)];
    });
  }
}

/**
 * Sets the ETag of the response to a GET, and the status 304 if the client already has this response. Compares ETags
 * weakly (RFC 9110, section 13.1.2).
 * @returns true if the response needs a body.
 */
export function applyETag(response: Response, etag: string): boolean {
  const toOpaqueTag = (tag: string): string => tag.trim().replace(/^W\//i, '');
  const known = response.req.get('if-none-match')?.split(',').map(toOpaqueTag) ?? [];
  const isKnown = known.includes('*') || known.includes(toOpaqueTag(etag));
  response.setHeader('ETag', etag);
  if (isKnown) response.status(304);
  return !isKnown;
}
