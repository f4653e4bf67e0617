import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/actor.js';
import type { Sql } from '../../database/engine/sql.js';
import { UserDirectory } from '../../users/directory/user-directory.service.js';
import type { UserChange } from '../../users/change/change-set.js';
import { UserWriter } from '../../users/change/user-writer.service.js';
import { patchOf } from '../plan/row-rules.js';
import { ImportRowsRepository } from '../runs/import-rows.repository.js';
import type { ImportRun } from '../runs/import-run.js';
import { type StagedRow, failedRow } from '../runs/import-row.js';
import type { Checkpoint } from '../runs/checkpoint.js';

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

  /** Applies the batches after the last applied one. @throws what `Checkpoint.commit` throws. */
  async apply(run: ImportRun, checkpoint: Checkpoint): Promise<void> {
    const caller: Caller = {
      ...run.caller,
      actor: { kind: 'import', id: run.id, initiator: run.caller.actor },
    };
    for (let batch = run.appliedBatches + 1; batch <= run.batches; batch++) {
      const percent = Math.floor((batch / run.batches) * 100);
      const rowsDone = Math.floor(((run.rowsTotal ?? 0) * batch) / run.batches);
      await checkpoint.commit((tx) => this.applyBatch(tx, run, batch, caller), {
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
    // Users have changed since the plan was made, or an identifier was taken since.
    const failed = changes.flatMap((row, index) => {
      const outcome = outcomes[index];
      return outcome?.outcome === 'error' ? [failedRow(row, [...outcome.failures])] : [];
    });
    await this.rows.replace(tx, run.id, failed);
  }
}

function toChange(row: StagedRow): UserChange {
  const uuid = row.userUuid ?? '';
  const { changes } = row;
  return row.outcome === 'created'
    ? { kind: 'create', uuid, patch: changes.values, changes }
    : { kind: 'update', uuid, patch: patchOf(changes.list, 'new'), ifVersions: [row.version] };
}
