import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';
import { ascii, flag, integer, longText, text, time, uuid } from '../engine/columns.js';
import { column, createTables, dropTables, key, optional } from './table-columns.js';

const TABLES = [
  new Table({
    name: 'import_runs',
    columns: [
      column('id', uuid(), key),
      column('state', ascii(24)),
      column('dry_run', flag()),
      column('dataset', text(64)),
      column('options', longText()),
      column('reverts', uuid(), optional),
      column('file_name', text(255)),
      column('file_size', integer()),
      column('file_sha256', ascii(64)),
      column('actor_kind', ascii(16)),
      column('actor_id', uuid(), optional),
      column('request_id', ascii(64)),
      column('ip', text(64)),
      column('created', time()),
      column('started', time(), optional),
      column('finished', time(), optional),
      column('rows_done', integer()),
      column('rows_total', integer(), { ...optional, default: null }),
      column('percent', integer()),
      column('phase_started', time(), optional),
      column('counts', longText(), optional),
      column('missing_reported', integer()),
      column('missing_blocked', integer()),
      column('guards', longText(), optional),
      column('reason', longText(), optional),
      column('header', longText(), optional),
      column('plan_hash', ascii(64), optional),
      column('batches', integer()),
      column('applied_batches', integer()),
      column('approved', flag()),
      column('cancel', flag()),
    ],
    indices: [
      { name: 'ix_import_runs_state', columnNames: ['state', 'id'] },
      { name: 'ix_import_runs_dataset', columnNames: ['dataset', 'state', 'id'] },
    ],
  }),
  new Table({
    name: 'import_rows',
    withoutRowid: true,
    columns: [
      column('run_id', uuid(), key),
      column('line', integer(), key),
      column('outcome', ascii(16)),
      column('code', ascii(32)),
      column('external_id', text(255)),
      column('user_uuid', uuid(), optional),
      column('version', integer()),
      column('batch', integer()),
      column('changes', longText()),
      column('errors', longText()),
      column('cells', longText(), optional),
    ],
    indices: [
      { name: 'ix_import_rows_batch', columnNames: ['run_id', 'batch', 'line'] },
      { name: 'ix_import_rows_outcome', columnNames: ['run_id', 'outcome', 'line'] },
    ],
  }),
  new Table({
    name: 'import_file_parts',
    withoutRowid: true,
    columns: [column('run_id', uuid(), key), column('part', integer(), key), column('bytes', longText())],
  }),
  new Table({
    name: 'leases',
    withoutRowid: true,
    columns: [column('name', ascii(32), key), column('owner', uuid()), column('until', time())],
  }),
];

export class Imports1763600002000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await createTables(queryRunner, TABLES);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await dropTables(queryRunner, TABLES);
  }
}
