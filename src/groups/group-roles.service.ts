import { Injectable } from '@nestjs/common';
import type { Caller } from '../access/actor.js';
import { type FieldError, validationFailed } from '../platform/common/errors.js';
import type { Sql } from '../platform/database/engine/sql.js';
import { toProblem } from '../users/rules/failure.js';
import { UserWriter } from '../users/writer/user-writer.service.js';
import { UserSettings } from '../users/rules/user-settings.js';
import { GroupRepository } from './group.repository.js';

/** Gives users the roles of their groups, beside their own (ADR 25). */
@Injectable()
export class GroupRoles {
  constructor(
    private readonly repository: GroupRepository,
    private readonly writer: UserWriter,
    private readonly settings: UserSettings,
  ) {}

  /**
   * Users have the roles of all their groups from now on. Who has them already is not written.
   * @param users some hundreds who exist, held by the transaction: their other groups stay as they are.
   * @param field what was changed, for the error: `members` or `roles`.
   * @throws ProblemError `validation_failed` naming users who may not hold such roles; what the writer refuses.
   */
  async settle(tx: Sql, users: readonly string[], field: string, caller: Caller): Promise<void> {
    const unions = new Map(users.map((user) => [user, new Set<string>()]));
    for (const { user, roles } of await this.repository.rolesByGroups(tx, users))
      for (const role of roles) unions.get(user)?.add(role);
    const changes = [...unions].map(([uuid, roles]) => ({
      kind: 'update' as const,
      uuid,
      patch: { group_roles: this.settings.roles.sort([...roles]) },
    }));
    const outcomes = await this.writer.apply(tx, changes, caller);
    const errors: FieldError[] = [];
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.outcome !== 'error') continue;
      const broken = outcome.failures.find(({ code }) => code === 'exclusive_roles');
      if (!broken) throw toProblem(outcome.failures);
      const message = `would break a rule of user ${users[index] ?? ''}: ${broken.field} ${broken.message}`;
      errors.push({ field, code: 'exclusive_roles', message });
    }
    if (errors.length > 0) throw validationFailed(errors);
  }
}
