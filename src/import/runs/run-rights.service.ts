import { Injectable } from '@nestjs/common';
import { type Actor, isSameActor } from '../../access/actor.js';
import type { Party } from '../../audit/audit-event.js';
import { AuditService } from '../../audit/audit.service.js';
import { assertConfirmed, assertScope, hasPermission, rightsOf } from '../../access/policy.js';
import { Env } from '../../platform/config/env.js';
import { ApiKeysService } from '../../api-keys/api-keys.service.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import { rolesOf } from '../../users/model/user.js';
import { UserRecords } from '../../users/search/user-records.service.js';
import type { RunOptions } from './import-options.js';
import type { ImportRun } from './import-run.js';
import { CREDENTIAL_REVOKED, type Reason } from './run-states.js';

/**
 * Checks the current rights of the starter and the approver of a run. The run stops if one of them loses the right to
 * import (interface §6). Runs of the schedule and the command line always have this right.
 */
@Injectable()
export class RunRights {
  constructor(
    private readonly keys: ApiKeysService,
    private readonly users: UserRecords,
    private readonly audit: AuditService,
    private readonly env: Env,
  ) {}

  /** Returns the reason why the run must stop, or undefined if its starter and approver have the required rights. */
  async findLostRight(
    sql: Sql,
    { starter, approver }: Pick<ImportRun, 'starter' | 'approver'>,
  ): Promise<Reason | undefined> {
    if (!(await this.hasImportRight(starter, sql))) return toRevokedReason(starter, 'started');
    if (!approver || isSameActor(starter, approver)) return undefined;
    return (await this.hasImportRight(approver, sql)) ? undefined : toRevokedReason(approver, 'approved');
  }

  async hasImportRight(actor: Actor, sql?: Sql): Promise<boolean> {
    const found = await this.findCurrentActor(actor, sql);
    return found !== undefined && hasPermission(found, 'imports.write');
  }

  /**
   * Returns an actor with its current rights, or undefined if the key is not valid or the user is not active. Does not
   * check the session of a user, which may have ended.
   * @param sql current transaction, if any.
   */
  async findCurrentActor(actor: Actor, sql?: Sql): Promise<Actor | undefined> {
    if (actor.kind === 'key') return this.keys.findActor(actor.id, sql);
    if (actor.kind !== 'user') return actor;
    const user = await this.users.find(actor.id, sql);
    return user?.status === 'Active'
      ? { ...actor, username: user.username, roles: rolesOf(user) }
      : undefined;
  }

  /**
   * Finds the actors who sent a file. A file that the service imports was sent by all actors who added a file with its
   * content to the drop folder. Call it when the run is queued, because the audit may forget the senders while a plan
   * waits for approval.
   */
  async findSenders({ kind, id }: Actor, sha256: string): Promise<Party[]> {
    return id === null ? this.audit.findFileSenders(sha256) : [{ kind, id }];
  }

  /**
   * Returns the reason why an actor may not approve a run, or undefined without a reason. If a guard has tripped, a key
   * with scopes may not approve a run that it sent, and with IMPORT_FOUR_EYES, no person may. An API key belongs to the
   * person who created it. Keys that the command line created have no creator and count as different people.
   */
  async findApprovalObstacle(run: ImportRun, actor: Actor): Promise<string | undefined> {
    const { id, guards, starter, file_sha256: sha256 } = run;
    const hasScopes = rightsOf(actor).scopes !== null;
    if (!(hasScopes || this.env.IMPORT_FOUR_EYES) || !guards.some(({ hit }) => hit)) return undefined;
    const senders = run.senders ?? (await this.findSenders(starter, sha256));
    if (hasScopes && senders.some(({ kind, id: sender }) => kind === 'key' && sender === actor.id))
      return `Import ${id} needs the approval of another credential, because this API key has scopes and sent the import.`;
    if (!this.env.IMPORT_FOUR_EYES) return undefined;
    const credentials = await Promise.all(senders.map((sender) => this.listCredentials(sender)));
    const approvers = new Set(await this.listCredentials(actor));
    if (!credentials.flat().some((credential) => approvers.has(credential))) return undefined;
    return `Import ${id} needs the approval of another person, because you sent the file and IMPORT_FOUR_EYES is on.`;
  }

  private async listCredentials({ kind, id }: Party): Promise<string[]> {
    if (id === null) return [];
    return kind === 'key' ? this.keys.findCreatorChain(id) : [id];
  }
}

/** @throws ProblemError `insufficient_scope` or `reauthentication_required` for a run with `allow_privileged`. */
export function assertPrivilegedAllowed(
  { allow_privileged, dry_run }: Pick<RunOptions, 'allow_privileged' | 'dry_run'>,
  actor: Actor,
): void {
  if (!allow_privileged) return;
  assertScope(actor, 'webmasters');
  if (!dry_run) assertConfirmed(actor);
}

function toRevokedReason({ kind, id }: Actor, action: 'started' | 'approved'): Reason {
  const subject =
    kind === 'key'
      ? `API key ${id}, which ${action} this import, was revoked or has expired`
      : `User ${id ?? ''}, who ${action} this import, is blocked or no longer a Webmaster`;
  const message = `${subject}. Rows that were applied stay applied.`;
  return { code: CREDENTIAL_REVOKED, message };
}
