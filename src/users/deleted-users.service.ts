import { Injectable } from '@nestjs/common';
import type { Caller } from '../access/actor.js';
import { hasPermission } from '../access/policy.js';
import { AuditService } from '../audit/audit.service.js';
import { DAY_SECONDS, addSeconds } from '../platform/common/time.js';
import { Env } from '../platform/config/env.js';
import { type DeletedFilter, DeletedUsersRepository } from './writer/deleted-users.repository.js';
import { ReleasedUsernames } from './writer/released-usernames.repository.js';
import type { User } from './model/user.js';
import { SearchBudget } from './search/search-budget.service.js';
import type { DeletedUser } from './user.view.js';
import { UsersService } from './users.service.js';

/** Lists, restores and purges deleted users, who are retained for `SCIM_DELETED_DAYS` days (ADR 23). */
@Injectable()
export class DeletedUsers {
  constructor(
    private readonly repository: DeletedUsersRepository,
    private readonly released: ReleasedUsernames,
    private readonly users: UsersService,
    private readonly audit: AuditService,
    private readonly budget: SearchBudget,
    private readonly env: Env,
  ) {}

  /**
   * Lists deleted users in the order of their deletion. A search by words needs a slot of `SearchBudget`.
   * @param getDisconnect returns a signal that aborts when the client disconnects.
   * @throws ProblemError an error of `SearchBudget.run`.
   */
  async list(
    filter: DeletedFilter,
    page: { offset: number; limit: number },
    { actor }: Caller,
    getDisconnect: () => AbortSignal,
  ): Promise<{ count: number; users: DeletedUser[] }> {
    const { count, users } =
      filter.search === undefined
        ? await this.repository.listPage(filter, page)
        : await this.budget.run(actor, getDisconnect(), {
            run: (signal) => this.repository.listPage(filter, page, signal),
            findBroadestPart: () => Promise.resolve('search'),
          });
    const deleted = hasPermission(actor, 'audit.read') ? users : [];
    const { records, nameOf } = await this.audit.findDeletions(deleted);
    const eventOf = new Map(records.map((record) => [record.target.id, record]));
    const retained = this.env.SCIM_DELETED_DAYS * DAY_SECONDS;
    const shown = users.map((each) => ({
      ...each,
      finalRemoval: addSeconds(each.deleted, retained),
      event: eventOf.get(each.user.uuid),
      nameOf,
    }));
    return { count, users: shown };
  }

  /**
   * Restores a deleted user with the password and the user's own roles, but without groups, direct reports and
   * sessions. Clears a manager who no longer exists.
   * @throws ProblemError `not_found`, or a conflict if another user has taken one of the identifiers.
   */
  async restore(uuid: string, caller: Caller): Promise<User> {
    return this.users.write({ kind: 'restore', uuid, buildChange: () => ({ patch: {} }) }, caller);
  }

  /**
   * Permanently removes deleted users after their retention period, and usernames that are no longer reserved. Deletes in
   * batches, so that other writers do not wait long.
   */
  async purge(): Promise<void> {
    while (await this.repository.purge());
    while (await this.released.purge());
  }
}
