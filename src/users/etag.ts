import type { User } from './model/user.js';
import type { View } from './user.view.js';

/**
 * Strong validator of a representation: version, then what changes without a change of the user (`last_access`),
 * then how much the reader sees. `If-Match` compares the version alone: it protects changes (ADR 0006).
 */
export function etagOf(user: User, view: View): string {
  const seen = view === 'colleague' || user.last_access === null ? '0' : user.last_access.replace(/\D/g, '');
  return `"${user.version}.${seen}.${view}"`;
}

/**
 * The versions that an `If-Match` admits; undefined for one that admits any (`*`, or no header). Tags that are not
 * ours admit nothing.
 */
export function versionsIn(ifMatch: string | undefined): number[] | undefined {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined;
  return ifMatch.split(',').flatMap((tag) => {
    const found = /^"(\d{1,9})\.\d+\.[a-z]+"$/.exec(tag.trim());
    return found ? [Number(found[1])] : [];
  });
}

/** Weak comparison (RFC 9110 §13.1.2): true when the client already has this representation. */
export function isNotModified(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag);
}
