import type { ImportRowEntity } from './import.entity.js';
import type { RowError, StagedOutcome, StagedRow } from './import-row.js';

/** The columns that a staged row is read from. */
export const ROW_COLUMNS = 'line, outcome, external_id, user_uuid, version, batch, changes, errors';

export function toEntity(runId: string, row: StagedRow): ImportRowEntity {
  return {
    run_id: runId,
    line: row.line,
    outcome: row.outcome,
    code: row.errors[0]?.code ?? '',
    external_id: row.externalId,
    user_uuid: row.userUuid,
    version: row.version,
    batch: row.batch,
    changes: JSON.stringify(row.changes),
    errors: JSON.stringify(row.errors),
    cells: null,
  };
}

export function toStaged(row: ImportRowEntity): StagedRow {
  return {
    line: row.line,
    outcome: row.outcome as StagedOutcome,
    externalId: row.external_id,
    userUuid: row.user_uuid,
    version: row.version,
    batch: row.batch,
    changes: JSON.parse(row.changes) as StagedRow['changes'],
    errors: JSON.parse(row.errors) as RowError[],
  };
}
