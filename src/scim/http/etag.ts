/** The version of a resource as its `meta.version` and its `ETag` (RFC 7644, section 3.14). */
export const etagOf = ({ version }: { version: number }): string => `W/"${version}"`;

/** Providers send a version with and without `W/`: both mean the version itself. */
const TAG = /^(?:W\/)?"(\d{1,9})"$/i;

/**
 * The versions that an `If-Match` admits; undefined for one that admits any (`*`, or no header). What is no version of ours
 * admits nothing.
 */
export function versionsIn(ifMatch: string | undefined): number[] | undefined {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined;
  return ifMatch.split(',').flatMap((tag) => {
    const found = TAG.exec(tag.trim())?.[1];
    return found === undefined ? [] : [Number(found)];
  });
}

/** Whether the client has this version already, by its `If-None-Match`. */
export function isNotModified(ifNoneMatch: string | undefined, version: number): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.trim() === '*' || (versionsIn(ifNoneMatch) ?? []).includes(version);
}
