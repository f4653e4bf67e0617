import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';
import { ascii, integer, longText, time, uuid } from '../engine/columns.js';
import { column, createTables, dropTables, key, optional } from './table-columns.js';

const TABLES = [
  new Table({
    name: 'audit_runs',
    withoutRowid: true,
    columns: [
      column('run_id', uuid(), key),
      column('part', ascii(16), key),
      column('person_kind', ascii(16)),
      column('person_id', uuid(), optional),
    ],
    indices: [{ name: 'ix_audit_runs_person', columnNames: ['person_id', 'run_id'] }],
  }),
  new Table({
    name: 'audit_seals',
    columns: [
      column('number', integer(), key),
      column('sealed', time()),
      column('until_id', uuid()),
      column('row_count', integer()),
      column('rows_hash', ascii(64)),
      column('late_count', integer()),
      column('late_hash', ascii(64)),
      column('purged', integer()),
      column('key_id', ascii(16)),
      column('hash', ascii(64)),
      column('members', longText(), optional),
    ],
    indices: [{ name: 'ix_audit_seals_until', columnNames: ['until_id'] }],
  }),
  new Table({
    name: 'audit_late_events',
    withoutRowid: true,
    columns: [column('id', uuid(), key), column('seal', integer())],
    indices: [{ name: 'ix_audit_late_events_seal', columnNames: ['seal', 'id'] }],
  }),
];

/** Seals over the audit, and who is behind each import: those of before this version, as far as their runs are kept. */
export class AuditSeals1764600000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await createTables(queryRunner, TABLES);
    await queryRunner.query(
      `INSERT INTO audit_runs (run_id, part, person_kind, person_id)
       SELECT id, 'started', actor_kind, actor_id FROM import_runs
       WHERE id NOT IN (SELECT run_id FROM audit_runs WHERE part = 'started')`,
    );
    await queryRunner.query(
      `INSERT INTO audit_runs (run_id, part, person_kind, person_id)
       SELECT target_id, 'approved', MAX(actor_kind), MAX(actor_id) FROM audit_events
       WHERE action = 'import.approved' AND target_id NOT IN (SELECT run_id FROM audit_runs WHERE part = 'approved')
       GROUP BY target_id`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await dropTables(queryRunner, TABLES);
  }
}
