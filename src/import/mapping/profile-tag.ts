import { createHash } from 'node:crypto';
import { ProblemError } from '../../platform/common/errors.js';
import type { ImportProfile } from '../runs/import-profile.js';

/** What a client demands of the profile that is there: the headers of its request (RFC 9110, section 13.1). */
export interface Expected {
  ifMatch: string | undefined;
  ifNoneMatch: string | undefined;
}

const DIGITS = 32;

/** Names the content of a profile, whenever it was saved: the `ETag` of its answer. */
export const tagOf = (profile: ImportProfile): string =>
  `"${createHash('sha256').update(JSON.stringify(profile)).digest('hex').slice(0, DIGITS)}"`;

/** @param profile the one that is there. @throws ProblemError `precondition_failed`. */
export function assertExpected(profile: ImportProfile | undefined, { ifMatch, ifNoneMatch }: Expected): void {
  const tag = profile && tagOf(profile);
  const names = (header: string): boolean =>
    tag !== undefined && header.split(',').some((each) => ['*', tag].includes(each.trim()));
  if (ifMatch !== undefined && !names(ifMatch)) {
    throw failed(
      profile ? 'The profile has changed since it was read.' : 'The profile is not there any more.',
    );
  }
  if (ifNoneMatch !== undefined && names(ifNoneMatch)) throw failed('There is a profile of this name.');
}

const failed = (detail: string) => new ProblemError('precondition_failed', detail);
