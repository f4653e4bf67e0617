import { Injectable } from '@nestjs/common';
import type { Actor } from '../../access/actor.js';
import type { User } from '../../users/model/user.js';
import { validateChange } from '../../users/rules/user-rules.js';
import { UserSettings } from '../../users/rules/user-settings.js';
import { UserDirectory } from '../../users/search/user-directory.service.js';
import { UserConditions } from '../../users/search/user.query.js';
import { UserSearch } from '../../users/search/user-search.service.js';
import { readInput } from '../../platform/input/read-input.js';
import { type PlanBuilder, ROWS_AT_ONCE } from './plan-builder.js';
import type { PlannedRow } from './row-rules.js';
import { createChangedRow, createDeletedRow, createUnwrittenRow, rejectForbiddenRow } from './user-rows.js';
import type { RowError } from '../runs/import-row.js';
import { ImportRowsRepository } from '../runs/import-rows.repository.js';
import { type ImportRun, callerOf } from '../runs/import-run.js';
import { type BulkChange, type BulkFields, readBulkFields } from '../runs/bulk-change.input.js';

const UNKNOWN_USER: RowError = { field: 'uuid', code: 'not_found', message: 'does not exist' };

/** A page of selected users. A user is undefined if no user has the uuid. */
type Selection = readonly (readonly [uuid: string, user: User | undefined])[];

/**
 * Plans a bulk change. The rows are the selected users in the order of their uuids, numbered from 1. The users of a plan
 * stay the same when it is planned again.
 */
@Injectable()
export class BulkPlanner {
  constructor(
    private readonly rows: ImportRowsRepository,
    private readonly directory: UserDirectory,
    private readonly search: UserSearch,
    private readonly settings: UserSettings,
  ) {}

  async plan(run: ImportRun, bulk: BulkChange, builder: PlanBuilder): Promise<void> {
    const { actor } = callerOf(run);
    const { value: fields } = readBulkFields(bulk.change, this.settings);
    const conditions = bulk.where ? readInput(UserConditions, bulk.where).value : undefined;
    const total =
      run.rows_total ?? (conditions ? await this.search.count(conditions, actor) : bulk.uuids.length);
    for await (const selection of this.readSelection(run, bulk.uuids, conditions, actor)) {
      const planned = selection.map(([uuid, user], index) => {
        const line = builder.tally.rows + index + 1;
        if (!user)
          return createUnwrittenRow({ line, external_id: '', user_uuid: uuid }, user, [UNKNOWN_USER]);
        return rejectForbiddenRow(this.planRow(line, user, fields), actor);
      });
      await builder.addUserRows(planned, total);
    }
  }

  private async *readSelection(
    run: ImportRun,
    uuids: readonly string[],
    conditions: UserConditions | undefined,
    actor: Actor,
  ): AsyncGenerator<Selection> {
    if (run.plan_hash !== null) {
      for await (const rows of this.rows.readPages(run.id, ROWS_AT_ONCE))
        yield this.findUsers(rows.map(({ user_uuid }) => user_uuid ?? ''));
    } else if (conditions) {
      for await (const page of await this.search.readAll(conditions, actor))
        yield page.map(({ user }) => [user.uuid, user]);
    } else {
      for (let at = 0; at < uuids.length; at += ROWS_AT_ONCE)
        yield this.findUsers(uuids.slice(at, at + ROWS_AT_ONCE));
    }
  }

  private async findUsers(uuids: readonly string[]): Promise<Selection> {
    const users = await this.directory.findByUuids(uuids);
    return uuids.map((uuid) => [uuid, users.get(uuid)]);
  }

  private planRow(line: number, user: User, fields: BulkFields): PlannedRow {
    if (fields.delete) return createDeletedRow(line, user);
    const { add_roles: added, remove_roles: removed, dataset, ...value } = fields;
    if (added ?? removed) {
      const roles = new Set([...user.roles, ...(added ?? [])]);
      for (const role of removed ?? []) roles.delete(role);
      value.roles = roles.size > 0 ? [...roles] : null;
    }
    const { errors, after } = validateChange(user, { value, errors: [] }, this.settings);
    const { external_id, uuid: user_uuid } = user;
    if (errors.length > 0) return createUnwrittenRow({ line, external_id, user_uuid }, user, errors);
    return createChangedRow(line, user, dataset === undefined ? after : moveToDataset(after, dataset));
  }
}

function moveToDataset(user: User, dataset: string | null): User {
  if (user.managed_by === dataset) return user;
  // Without a data set, a user with `blocked_by` would count as missing from a file, and an import could reactivate the
  // user.
  const { blocked_by } = user;
  return {
    ...user,
    managed_by: dataset,
    managed_part: null,
    blocked_by: dataset === null ? null : blocked_by,
  };
}
