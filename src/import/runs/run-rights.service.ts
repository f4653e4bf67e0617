import { Injectable } from '@nestjs/common';
import type { Actor, Caller } from '../../access/actor.js';
import { may } from '../../access/policy.js';
import { ProblemError } from '../../platform/common/errors.js';
import { Env } from '../../platform/config/env.js';
import { ApiKeysService } from '../../api-keys/api-keys.service.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import { rolesOf } from '../../users/model/user.js';
import { UsersService } from '../../users/users.service.js';
import type { ImportRun } from './import-run.js';
import type { Reason } from './run-states.js';

/** Who a run acts for. */
interface Principals {
  starter: Actor;
  approver: Actor | null;
}

/**
 * The rights of a run are those that its starter and its approver have now, not those that they had when they asked: no
 * change is written for a credential that would be refused (interface §6). Runs of the schedule and of the command line
 * act for the service itself.
 */
@Injectable()
export class RunRights {
  constructor(
    private readonly keys: ApiKeysService,
    private readonly users: UsersService,
    private readonly env: Env,
  ) {}

  /** Why the run may not write any more; undefined while it may. Costs a look-up by primary key for each credential. */
  async lost(sql: Sql, { starter, approver }: Principals): Promise<Reason | undefined> {
    if (!(await this.holds(sql, starter))) return reason(starter, 'started');
    if (!approver || isSame(starter, approver)) return undefined;
    return (await this.holds(sql, approver)) ? undefined : reason(approver, 'approved');
  }

  /** Whether the starter of a run would be refused now. */
  async hasLost(starter: Actor): Promise<boolean> {
    return !(await this.holds(undefined, starter));
  }

  private async holds(sql: Sql | undefined, actor: Actor): Promise<boolean> {
    const current = await this.current(actor, sql);
    return current !== undefined && may(current, 'imports.write');
  }

  /**
   * The actor as a request of this moment would have it; undefined when it would be refused. A session that has ended does
   * not matter: its user does. @param sql the transaction that this is part of, if any.
   */
  async current(actor: Actor, sql?: Sql): Promise<Actor | undefined> {
    if (actor.kind === 'key') return this.keys.actorOf(actor.id, sql);
    if (actor.kind !== 'user') return actor;
    const user = await this.users.find(actor.id, sql);
    return user?.status === 'Active'
      ? { ...actor, username: user.username, roles: rolesOf(user) }
      : undefined;
  }

  /**
   * IMPORT_FOUR_EYES: a file where a guard was hit is not approved with any credential of the person who sent it. A key belongs
   * to the person who created it. Two keys of the command line have no creator, and are two people.
   * @throws ProblemError `forbidden`.
   */
  async assertOtherPerson({ id, guards, starter }: ImportRun, caller: Caller): Promise<void> {
    if (!this.env.IMPORT_FOUR_EYES || !guards.some(({ hit }) => hit)) return;
    const senders = new Set(await this.credentialsOf(starter));
    const approvers = await this.credentialsOf(caller.actor);
    if (!approvers.some((credential) => senders.has(credential))) return;
    const detail = `Import ${id} needs another person's approval: IMPORT_FOUR_EYES is on, and you have sent the file.`;
    throw new ProblemError('forbidden', detail);
  }

  private async credentialsOf({ kind, id }: Actor): Promise<string[]> {
    if (id === null) return []; // the service itself
    return kind === 'key' ? this.keys.withMakers(id) : [id];
  }
}

const isSame = (a: Actor, b: Actor): boolean => a.kind === b.kind && a.id === b.id;

function reason({ kind, id }: Actor, did: 'started' | 'approved'): Reason {
  const who =
    kind === 'key'
      ? `API key ${id}, which ${did} this import, is revoked or has expired`
      : `User ${id ?? ''}, who ${did} this import, is blocked or no Webmaster any more`;
  const message = `${who}. Rows that were applied stay applied.`;
  return { code: 'credential_revoked', message };
}
