import { parseIfMatch } from '../common/if-match.js';

/** The version of a resource as its `meta.version` and its `ETag` (RFC 7644, section 3.14). */
export const etagOf = ({ version }: { version: number }): string => `W/"${version}"`;

/** Providers send a version with and without `W/`: both mean the version itself. */
const TAG = /^(?:W\/)?"(\d{1,9})"$/i;

/** Returns the versions that an `If-Match` admits, undefined when it admits any. */
export const versionsIn = (ifMatch: string | undefined): number[] | undefined => parseIfMatch(ifMatch, TAG);

/** Whether the client has this version already, by its `If-None-Match`. */
export function isNotModified(ifNoneMatch: string | undefined, version: number): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.trim() === '*' || (versionsIn(ifNoneMatch) ?? []).includes(version);
}
