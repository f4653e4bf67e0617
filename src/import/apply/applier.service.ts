import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/actor.js';
import type { ProblemError } from '../../common/errors.js';
import type { Sql } from '../../database/engine/sql.js';
import { UserDirectory } from '../../users/directory/user-directory.service.js';
import type { Outcome, UserChange } from '../../users/change/change-set.js';
import { UserWriter } from '../../users/change/user-writer.service.js';
import { patchOf } from '../plan/row-judge.js';
import { ImportRowsRepository } from '../runs/import-rows.repository.js';
import type { ImportRun } from '../runs/import-run.js';
import { type RowError, type StagedRow, failedRow } from '../runs/import-row.js';
import type { Work } from '../runs/checkpoint.js';

/**
 * Writes a plan through the user writer, batch by batch. The checkpoint of the run moves in the transaction of each batch,
 * so that after a crash a batch is applied and counted, or neither.
 */
@Injectable()
export class Applier {
  constructor(
    private readonly rows: ImportRowsRepository,
    private readonly writer: UserWriter,
    private readonly directory: UserDirectory,
  ) {}

  /** Applies the batches after the last applied one. @throws what `Work.commit` throws. */
  async apply(run: ImportRun, work: Work): Promise<void> {
    const caller: Caller = {
      ...run.caller,
      actor: { kind: 'import', id: run.id, initiator: run.caller.actor },
    };
    for (let batch = run.appliedBatches + 1; batch <= run.batches; batch++) {
      const percent = Math.floor((batch / run.batches) * 100);
      const rowsDone = Math.floor(((run.rowsTotal ?? 0) * batch) / run.batches);
      await work.commit((tx) => this.applyBatch(tx, run, batch, caller), {
        appliedBatches: batch,
        rowsDone,
        percent,
      });
    }
  }

  private async applyBatch(tx: Sql, run: ImportRun, batch: number, caller: Caller): Promise<void> {
    const rows = await this.rows.batch(tx, run.id, batch);
    const claims = rows.filter(({ outcome }) => outcome === 'unchanged');
    await this.directory.claim(
      tx,
      claims.flatMap(({ userUuid }) => userUuid ?? []),
      run.dataset,
    );
    const changes = rows.filter((row) => !claims.includes(row));
    const outcomes = await this.writer.apply(tx, changes.map(toChange), caller);
    const failed = changes.flatMap((row, index) => {
      const outcome = outcomes[index];
      return outcome?.outcome === 'error' ? [toFailed(row, outcome)] : [];
    });
    await this.rows.replace(tx, run.id, failed);
  }
}

function toChange(row: StagedRow): UserChange {
  const uuid = row.userUuid ?? '';
  const patch = patchOf(row.changes, 'new');
  return row.outcome === 'created'
    ? { kind: 'create', uuid, patch }
    : { kind: 'update', uuid, patch, ifVersions: [row.version] };
}

/** For a user that changed after planning, or an identifier that was taken since. */
function toFailed(row: StagedRow, { error }: Extract<Outcome, { outcome: 'error' }>): StagedRow {
  return failedRow(row, rowErrors(error));
}

function rowErrors({ code, detail, extras }: ProblemError): RowError[] {
  if (extras.errors) return extras.errors;
  if (extras.conflicts) {
    return extras.conflicts.map(({ field, uuid }) => ({
      field,
      code,
      message: `belongs to user ${uuid}`,
      uuid,
    }));
  }
  return [{ field: '', code, message: detail }];
}
