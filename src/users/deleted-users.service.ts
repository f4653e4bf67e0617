import { Injectable } from '@nestjs/common';
import type { Caller } from '../access/actor.js';
import { now, secondsFrom } from '../platform/common/time.js';
import { Env } from '../platform/config/env.js';
import { TransactionRunner } from '../platform/database/transaction-runner.js';
import { type DeletedUser, DeletedUsersRepository } from './writer/deleted-users.repository.js';
import { UserWriter } from './writer/user-writer.service.js';
import type { User } from './model/user.js';

export type { DeletedUser };

const DAY_SECONDS = 24 * 60 * 60;
/** Before all deletions. */
const EVER = '1970-01-01 00:00:00.000';

/** Users that were deleted: they are kept for `SCIM_DELETED_DAYS` days, and no door finds them (ADR 23). */
@Injectable()
export class DeletedUsers {
  constructor(
    private readonly repository: DeletedUsersRepository,
    private readonly writer: UserWriter,
    private readonly transactions: TransactionRunner,
    private readonly env: Env,
  ) {}

  /** In the order of their deletion. @param since deleted at this time or later, in the form of the database. */
  async list(
    since: string | undefined,
    page: { offset: number; limit: number },
  ): Promise<{ count: number; users: DeletedUser[] }> {
    return this.repository.page(since ?? EVER, page);
  }

  /**
   * Takes a user back as it was, with its password and roles, without its groups, reports and sessions, nor a manager who is
   * gone. @throws ProblemError `not_found`, or a conflict that names what somebody else has taken meanwhile.
   */
  async restore(uuid: string, caller: Caller): Promise<User> {
    return this.transactions.run(
      (tx) => this.writer.applyOne(tx, { kind: 'restore', uuid, patch: {} }, caller),
      caller,
    );
  }

  /** Forgets users that were deleted long enough ago, in parts that block no other writer for long. */
  async purge(): Promise<void> {
    const until = secondsFrom(now(), -this.env.SCIM_DELETED_DAYS * DAY_SECONDS);
    while (await this.repository.purge(until));
  }
}
