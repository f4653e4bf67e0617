import type { Violation, End, History, Issue, Use } from '../history.js';
import type { Timelines } from '../timeline.js';

/**
 * Checks that an ended session or a revoked key is accepted before its end, and refused on every instance after the end
 * was acknowledged. Sessions of blocked users must be refused, too.
 */
export function checkCredentials(history: History, { users }: Timelines): Violation[] {
  const broken: Violation[] = [];
  const issued = new Map(history.filter('issue').map((issue) => [issue.credential, issue]));
  const ends = history.filter('end').filter(({ call }) => call.effect !== 'none');
  const endsOf = (issue: Issue): End[] =>
    ends.filter(({ credential, owner }) =>
      credential === undefined
        ? owner === issue.owner && issue.owner !== ''
        : credential === issue.credential,
    );
  for (const use of history.filter('use')) {
    const issue = issued.get(use.credential);
    if (issue?.call.effect !== 'done') continue;
    const own = endsOf(issue);
    const ended = own.some(
      ({ call }) => call.effect === 'done' && issue.call.end < call.begin && call.end < use.begin,
    );
    if (use.accepted && (ended || isBlocked(use, issue, users)))
      broken.push(toViolation(use, issue, 'was accepted after its end'));
    const possible = own.some(({ call }) => call.begin <= use.end && call.end >= issue.call.begin);
    if (!use.accepted && !possible) broken.push(toViolation(use, issue, 'was refused without a reason'));
  }
  return broken;
}

/** Returns true if the user of a session was certainly blocked when it was used. */
function isBlocked({ begin, end }: Use, { owner }: Issue, users: Timelines['users']): boolean {
  const statuses = users.get(owner)?.get('status')?.valuesDuring(begin, end) ?? [];
  return statuses.length > 0 && statuses.every((status) => status === 'Blocked');
}

const toViolation = ({ credential, instance, begin }: Use, { owner }: Issue, text: string): Violation => ({
  promise: 'ended credentials are refused',
  text: `${owner === '' ? 'key' : `session of ${owner}`} ${credential} ${text} (instance ${instance}, ${Math.round(begin)} ms)`,
});
