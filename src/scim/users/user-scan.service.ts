import { Injectable } from '@nestjs/common';
import { ProblemError } from '../../platform/common/errors.js';
import { Turn } from '../../platform/common/turn.js';
import { Env } from '../../platform/config/env.js';
import type { User } from '../../users/model/user.js';
import type { AttributePath } from '../protocol/attribute.js';
import { compareCodePoints } from '../../platform/common/text.js';
import { matcher } from '../protocol/filter-match.js';
import type { Filter } from '../protocol/filter.js';
import { sortValue } from '../protocol/sort.js';
import { looksAt } from './filter-plan.js';
import { KEYED_NAMES } from './keyed-values.js';
import { type Scope, ScimUserRepository } from './scim-user.repository.js';
import { ScimUserView } from './scim-user-view.service.js';

/** Users read at once: a few milliseconds of the main thread. */
const AT_ONCE = 500;

/** A user that matches, with what it is sorted by. */
export interface Match {
  key: string | number | null;
  uuid: string;
}

/** Lists that the database does not decide: users are read some hundreds at a time, and looked at one by one. */
@Injectable()
export class UserScan {
  /** Users that a list looks at, at most. */
  readonly limit: number;

  constructor(
    private readonly repository: ScimUserRepository,
    private readonly view: ScimUserView,
    env: Env,
  ) {
    this.limit = env.SCIM_SCAN_LIMIT;
  }

  /**
   * All users of a scope that match, in the order of the list.
   * @param sort by what and in which direction; by creation, where it is undefined.
   * @throws ProblemError `too_many` where more than `SCIM_SCAN_LIMIT` users had to be looked at.
   */
  async matches(
    scope: Scope,
    filter: Filter | undefined,
    sort: { by: AttributePath; descending: boolean } | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Match[]> {
    const candidates = await this.repository.candidates(scope, this.limit + 1, signal);
    if (candidates.length > this.limit) throw this.tooMany(sort !== undefined);
    const withGroups = looksAt(filter, 'groups') || sort?.by.attribute.name === 'groups';
    const suits = filter && matcher(filter);
    const found: Match[] = [];
    const turn = new Turn();
    for (let from = 0; from < candidates.length; from += AT_ONCE) {
      const part = candidates.slice(from, from + AT_ONCE);
      const users = await this.usersOf(part.map(({ uuid }) => uuid));
      for (const [index, resource] of (await this.view.whole(users, withGroups)).entries()) {
        const user = users[index];
        if (turn.isOver) await turn.next();
        if (!user || (suits && !suits(resource))) continue;
        found.push({ key: sort ? (sortValue(sort.by, resource) ?? null) : user.created, uuid: user.uuid });
      }
      signal?.throwIfAborted();
      await turn.next();
    }
    return sort ? found.sort(comparing(sort.descending)) : found;
  }

  /** The users in the order of these ids. */
  async usersOf(uuids: readonly string[]): Promise<User[]> {
    const byUuid = new Map((await this.repository.users(uuids)).map((user) => [user.uuid, user]));
    return uuids.flatMap((uuid) => byUuid.get(uuid) ?? []);
  }

  private tooMany(isSorted: boolean): ProblemError {
    const what = isSorted
      ? `sortBy takes attributes without an index only where at most ${this.limit} users match`
      : `The filter would look at more than ${this.limit} users`;
    const names = [...new Set(KEYED_NAMES)].join(', ');
    return new ProblemError('too_many', `${what}. Indexed attributes are ${names}: join one of them by and.`);
  }
}

/** Who has no value is last, and first when descending; equal keys are in the order of the ids. */
export const comparing =
  (descending: boolean) =>
  (a: Match, b: Match): number => {
    const sign = descending ? -1 : 1;
    if (a.key !== null && b.key !== null)
      return sign * (compareCodePoints(a.key, b.key) || compareCodePoints(a.uuid, b.uuid));
    if (a.key === b.key) return sign * compareCodePoints(a.uuid, b.uuid);
    return sign * (a.key === null ? 1 : -1);
  };
