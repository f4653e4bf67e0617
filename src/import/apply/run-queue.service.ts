import { Injectable } from '@nestjs/common';
import { type Caller, datasetScope } from '../../access/actor.js';
import { assertScope } from '../../access/policy.js';
import { AuditService } from '../../audit/audit.service.js';
import { ProblemError, unavailable } from '../../platform/common/errors.js';
import { truncated } from '../../platform/common/text.js';
import { TransactionRunner } from '../../platform/database/transaction-runner.js';
import { UserSettings } from '../../users/rules/user-settings.js';
import { ImportFilesRepository } from '../file/import-files.repository.js';
import type { StoredFile } from '../file/import-store.js';
import type { ImportOptions, NamedProfile } from '../runs/import-options.js';
import { type ImportRun, newRun, startOf } from '../runs/import-run.js';
import { ImportRunsRepository } from '../runs/import-runs.repository.js';
import { ImportWorker } from './import-worker.service.js';

/** Queues stored files as runs, for the API, the command line and the schedule alike. */
@Injectable()
export class RunQueue {
  constructor(
    private readonly runs: ImportRunsRepository,
    private readonly files: ImportFilesRepository,
    private readonly worker: ImportWorker,
    private readonly transactions: TransactionRunner,
    private readonly audit: AuditService,
    private readonly settings: UserSettings,
  ) {}

  /**
   * Checks what the options' own rules cannot know. Callers check before they store a file.
   * @throws ProblemError `insufficient_scope` for a key that may not import this data set, or not with `allow_privileged`;
   * `invalid_parameter` when `default_roles` names an unknown role.
   */
  assertOptions({ default_roles, dataset, allow_privileged }: ImportOptions, { actor }: Caller): void {
    assertScope(actor, datasetScope(dataset));
    if (allow_privileged) assertScope(actor, 'webmasters');
    const unknown = default_roles?.find((role) => this.settings.roles.find(role) === undefined);
    if (unknown === undefined) return;
    const detail = `default_roles names "${truncated(unknown, 64)}", which is not a role of this service.`;
    throw new ProblemError('invalid_parameter', detail);
  }

  /**
   * Makes a run of a stored file and wakes the worker; the run starts when its turn comes.
   * @throws ProblemError `invalid_parameter` as `assertOptions`; `unavailable` when parts of the file are missing because
   * a purge took it for an interrupted upload.
   */
  async submit(
    file: StoredFile,
    options: ImportOptions,
    caller: Caller,
    profile: NamedProfile | null = null,
  ): Promise<ImportRun> {
    this.assertOptions(options, caller);
    const run = await this.transactions.run(async (tx) => {
      const parts = await this.files.lock(tx, file.runId);
      if (parts !== file.parts) throw unavailable('The stored file is incomplete; send it again.', 1);
      const queued = newRun(file, options, caller, profile);
      await this.runs.insert(tx, queued);
      await this.audit.startRun(tx, caller, queued.id, startOf(queued));
      return queued;
    }, caller);
    await this.transactions.afterCommit(caller, async () => {
      this.worker.wake();
    });
    return run;
  }
}
