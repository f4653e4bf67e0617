import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/actor.js';
import { assertScope } from '../../access/policy.js';
import { createValidationError } from '../../platform/common/errors.js';
import type { JsonObject } from '../../platform/common/json.js';
import { sha256 } from '../../platform/common/secrets.js';
import { UNKNOWN_MANAGER } from '../../users/rules/failure.js';
import { UserSettings } from '../../users/rules/user-settings.js';
import { ConditionError } from '../../users/search/filter.js';
import { UserDirectory } from '../../users/search/user-directory.service.js';
import { UserSearch } from '../../users/search/user-search.service.js';
import { ImportWorker } from './import-worker.service.js';
import { type ImportRun, createRun } from '../runs/import-run.js';
import { ImportRunsRepository } from '../runs/import-runs.repository.js';
import { assertPrivilegedAllowed } from '../runs/run-rights.service.js';
import { readBulkChange } from '../runs/bulk-change.input.js';

/** Name that runs of bulk changes have instead of a file name. */
const FILE = { name: 'bulk change', size: 0, sha256: sha256('') };

/** Queues bulk changes, which are runs whose rows are selected users. */
@Injectable()
export class BulkChanges {
  constructor(
    private readonly runs: ImportRunsRepository,
    private readonly worker: ImportWorker,
    private readonly search: UserSearch,
    private readonly directory: UserDirectory,
    private readonly settings: UserSettings,
  ) {}

  /**
   * Queues a bulk change as a run.
   * @param body JSON body, merged with the query of the request.
   * @throws ProblemError `insufficient_scope`, `validation_failed`, or `reauthentication_required` for `allow_privileged`
   * in a session that is not confirmed.
   */
  async start(body: JsonObject, caller: Caller): Promise<ImportRun> {
    const { actor } = caller;
    assertScope(actor, 'users:write');
    assertScope(actor, 'imports:write');
    await caller.repeatable?.setContent(body);
    const { bulk, conditions, fields, options, errors } = readBulkChange(body, this.settings);
    const manager = fields?.manager_uuid;
    if (errors.length === 0 && manager && !(await this.directory.findExternalIds([manager])).has(manager))
      errors.push({ ...UNKNOWN_MANAGER, field: 'change.manager_uuid' });
    if (errors.length > 0) throw createValidationError(errors);
    // Rejects invalid conditions at once. The users are read later.
    if (conditions) await this.search.readAll(conditions, actor).catch(rethrowAsValidationError);
    assertPrivilegedAllowed(options, actor);
    return this.worker.queueRun(caller, async (tx) => {
      const file = { ...FILE, runId: await this.runs.createId(tx) };
      return { ...createRun(file, options, caller), bulk };
    });
  }
}

function rethrowAsValidationError(error: unknown): never {
  if (!(error instanceof ConditionError)) throw error;
  const { field, fault: message } = error;
  throw createValidationError([{ field: `where.${field}`, code: 'invalid_value', message }]);
}
