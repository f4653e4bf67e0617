import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';
import {
  ascii,
  createTables,
  dropTables,
  flag,
  integer,
  key,
  longText,
  optional,
  text,
  time,
  uuid,
} from './table-columns.js';

const TABLES = [
  new Table({
    name: 'import_runs',
    columns: [
      uuid('id', key),
      ascii(24)('state'),
      flag('dry_run'),
      text(64)('dataset'),
      longText('options'),
      uuid('reverts', optional),
      text(255)('file_name'),
      integer('file_size'),
      ascii(64)('file_sha256'),
      ascii(16)('actor_kind'),
      uuid('actor_id', optional),
      ascii(64)('request_id'),
      text(64)('ip'),
      time('created'),
      time('started', optional),
      time('finished', optional),
      integer('rows_done'),
      integer('rows_total', { ...optional, default: null }),
      integer('percent'),
      time('phase_started', optional),
      longText('counts', optional),
      integer('missing_reported'),
      integer('missing_blocked'),
      longText('guards', optional),
      longText('reason', optional),
      longText('header', optional),
      ascii(64)('plan_hash', optional),
      integer('batches'),
      integer('applied_batches'),
      flag('approved'),
      flag('cancel'),
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
      uuid('run_id', key),
      integer('line', key),
      ascii(16)('outcome'),
      ascii(32)('code'),
      text(255)('external_id'),
      uuid('user_uuid', optional),
      integer('version'),
      integer('batch'),
      longText('changes'),
      longText('errors'),
      longText('cells', optional),
    ],
    indices: [
      { name: 'ix_import_rows_batch', columnNames: ['run_id', 'batch', 'line'] },
      { name: 'ix_import_rows_outcome', columnNames: ['run_id', 'outcome', 'line'] },
    ],
  }),
  new Table({
    name: 'import_file_parts',
    withoutRowid: true,
    columns: [uuid('run_id', key), integer('part', key), longText('bytes')],
  }),
  new Table({
    name: 'leases',
    withoutRowid: true,
    columns: [ascii(32)('name', key), uuid('owner'), time('until')],
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
