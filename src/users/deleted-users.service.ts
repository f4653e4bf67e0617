import { Injectable } from '@nestjs/common';
import type { Caller } from '../access/actor.js';
import { DAY_SECONDS, now, addSeconds } from '../platform/common/time.js';
import { Env } from '../platform/config/env.js';
import { type DeletedUser, DeletedUsersRepository } from './writer/deleted-users.repository.js';
import { ReleasedUsernames } from './writer/released-usernames.repository.js';
import { UserChangeQueue } from './writer/user-change-queue.service.js';
import type { User } from './model/user.js';

export type { DeletedUser };

/** Default value of `since`, earlier than the deletion of any user. */
const EPOCH = '1970-01-01 00:00:00.000';

/** Lists, restores and purges deleted users, who are retained for `SCIM_DELETED_DAYS` days (ADR 23). */
@Injectable()
export class DeletedUsers {
  constructor(
    private readonly repository: DeletedUsersRepository,
    private readonly released: ReleasedUsernames,
    private readonly queue: UserChangeQueue,
    private readonly env: Env,
  ) {}

  /**
   * Lists deleted users in the order of their deletion.
   * @param since earliest time of deletion, in the format of time columns.
   */
  list(since: string | undefined, page: { offset: number; limit: number }) {
    return this.repository.listPage(since ?? EPOCH, page);
  }

  /**
   * Restores a deleted user with the password and the user's own roles, but without groups, direct reports and
   * sessions. Clears a manager who no longer exists.
   * @throws ProblemError `not_found`, or a conflict if another user has taken one of the identifiers.
   */
  async restore(uuid: string, caller: Caller): Promise<User> {
    const restored = { kind: 'restore', uuid } as const;
    return this.queue.write({ ...restored, buildChange: () => ({ ...restored, patch: {} }) }, caller);
  }

  /**
   * Permanently removes deleted users after their retention period, and usernames that are no longer reserved. Deletes in batches, so that other writers do not
   * wait long.
   */
  async purge(): Promise<void> {
    const until = addSeconds(now(), -this.env.SCIM_DELETED_DAYS * DAY_SECONDS);
    while (await this.repository.purge(until));
    while (await this.released.purge(now()));
  }
}
