import { fromJson, toJson } from '../../common/json.js';
import type { StagedRow } from './import-row.js';
import type { ImportRowEntity } from './import.entity.js';

/** The columns that a staged row is read from. */
export const ROW_COLUMNS = 'line, outcome, external_id, user_uuid, version, batch, changes, errors';

/** The database row of a new staged row. */
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
    changes: toJson(row.changes),
    errors: toJson(row.errors),
    cells: null,
  };
}

/** The staged row of a database row. */
export function toStaged(row: ImportRowEntity): StagedRow {
  return {
    line: row.line,
    outcome: row.outcome,
    externalId: row.external_id,
    userUuid: row.user_uuid,
    version: row.version,
    batch: row.batch,
    changes: fromJson(row.changes),
    errors: fromJson(row.errors),
  };
}
