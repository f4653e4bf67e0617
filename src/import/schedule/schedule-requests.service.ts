import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import type { Request } from 'express';
import type { Caller } from '../../access/actor.js';
import { assertScope } from '../../access/policy.js';
import { type AuditAction, type AuditChange, NO_TARGET } from '../../audit/audit-event.js';
import { recordEvents } from '../../audit/audit.service.js';
import { ProblemError, createValidationError, errorCodeOf } from '../../platform/common/errors.js';
import { findInvisible, isCleanText, replaceHidden, truncate } from '../../platform/common/text.js';
import { Env } from '../../platform/config/env.js';
import { TransactionRunner } from '../../platform/database/transaction-runner.js';
import { FileMeter, type StoredFile, storeForm } from '../file/file-store.js';
import { type DropFolder, MARKER, MAX_NAME_BYTES } from './drop-folder.js';
import { ScheduleService, type TakenFile } from './schedule.service.js';

/**
 * Requests of operators to the schedule. The schedule imports all files with the rights of the service, so a request
 * needs the scope for all data sets.
 */
@Injectable()
export class ScheduleRequests {
  constructor(
    private readonly env: Env,
    private readonly schedule: ScheduleService,
    private readonly transactions: TransactionRunner,
  ) {}

  /**
   * Imports the files in the drop folder now.
   * @throws ProblemError `insufficient_scope` for a key that may import only some data sets, or an error of
   * `ScheduleService.takeFiles`.
   */
  async takeFiles(caller: Caller): Promise<TakenFile[]> {
    assertScope(caller.actor, 'imports:write');
    const taken = await this.schedule.takeFiles();
    const changes = [{ field: 'files', new: taken.map(({ name }) => replaceHidden(name)) }];
    await this.record(caller, 'import.files_taken', changes);
    return taken;
  }

  /**
   * Adds the file of a form to the drop folder, complete and with a marker. Places the file before the response is
   * stored, so that no client receives a response without its file.
   * @throws ProblemError `insufficient_scope` for a key that may import only some data sets, `validation_failed` for a
   * name that the schedule would not import, `wrong_state` if the folder has a file with this name, `too_large`,
   * `invalid_parameter` for an invalid form, or an error of `ScheduleService.getFolder`.
   */
  async addFile(request: Request, caller: Caller): Promise<StoredFile> {
    assertScope(caller.actor, 'imports:write');
    const folder = await this.schedule.getFolder();
    const discard = folder.deleteDraft.bind(folder);
    const store = async (name: string, bytes: AsyncIterable<Uint8Array>): Promise<StoredFile> => {
      this.assertAccepted(folder, name);
      const [runId, meter] = [randomUUID(), new FileMeter()];
      await folder.writeDraft(runId, meter.read(bytes));
      return { runId, name, parts: 0, ...meter.finish() };
    };
    const { fields, file } = await storeForm(request, { store, discard });
    const { name, size, sha256, runId } = file;
    let undo = (): Promise<void> => discard(runId);
    try {
      const [field] = fields.keys();
      if (field !== undefined)
        throw new ProblemError(
          'invalid_parameter',
          `The form may only contain a file. Remove the field ${truncate(field, 64)}.`,
        );
      const { repeatable } = caller;
      await repeatable?.setContent([name, sha256]);
      undo = await folder.publishDraft(file, repeatable?.fingerprint ?? runId);
      // The file stays if the response is stored, or if the database does not answer. It also stays if it cannot be
      // deleted: a retry with the same key then continues with it.
      repeatable?.runAfterRollback(() =>
        repeatable
          .assertFirstRequest()
          .then(undo)
          .catch(() => undefined),
      );
      await this.record(caller, 'import.file_added', [{ field: 'file', new: { name, size, sha256 } }]);
      return file;
    } catch (error) {
      // Ignore errors of `undo`, because `error` is the cause.
      await undo().catch(() => undefined);
      throw errorCodeOf(error) === 'EEXIST' ? createExistsError(name) : error;
    }
  }

  private async record(caller: Caller, action: AuditAction, changes: readonly AuditChange[]): Promise<void> {
    const target = { kind: 'installation', id: NO_TARGET } as const;
    await this.transactions.run((tx) => recordEvents(tx, caller, [{ action, target, changes }]), caller);
  }

  private assertAccepted(folder: DropFolder, name: string): void {
    const isSafe = !/[/\\]/.test(name) && isCleanText(name) && findInvisible(name) === undefined;
    const isShort = Buffer.byteLength(name) <= MAX_NAME_BYTES - MARKER.length;
    if (isSafe && isShort && folder.matches(name)) return;
    const message = `must have a name that matches ${this.env.IMPORT_PATTERN} (IMPORT_PATTERN), without a path, invisible characters or a dot at the start`;
    throw createValidationError([{ field: 'file', code: 'invalid_value', message }]);
  }
}

const createExistsError = (name: string) =>
  new ProblemError(
    'wrong_state',
    `The drop folder already contains ${name}. Wait until it is imported, or rename your file.`,
  );
