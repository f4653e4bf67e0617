import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';
import { ascii, integer, longText, time, uuid } from '../engine/columns.js';
import { column, createTables, dropTables, key, optional } from './table-columns.js';

const seals = (...added: ReturnType<typeof column>[]) =>
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
      ...added,
    ],
    indices: [{ name: 'ix_audit_seals_until', columnNames: ['until_id'] }],
  });

const lateEvents = (...added: ReturnType<typeof column>[]) =>
  new Table({
    name: 'audit_late_events',
    withoutRowid: true,
    columns: [column('id', uuid(), key), column('seal', integer()), ...added],
    indices: [{ name: 'ix_audit_late_events_seal', columnNames: ['seal', 'id'] }],
  });

const BEFORE = [seals(), lateEvents()];
const AFTER = [seals(column('members_hash', ascii(64))), lateEvents(column('row_hash', ascii(64)))];

/**
 * Seals that also cover the list of their events, and late events one by one. The form of a seal changes, so the chain
 * begins anew: no release had the old one.
 */
export class ProvableSeals1764710000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await replace(queryRunner, AFTER, await queryRunner.hasColumn('audit_seals', 'members_hash'));
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await replace(queryRunner, BEFORE, !(await queryRunner.hasColumn('audit_seals', 'members_hash')));
  }
}

/** Repeatable after a kill: the seals are the first to be made, and the last to be dropped. */
async function replace(queryRunner: QueryRunner, tables: Table[], begun: boolean): Promise<void> {
  const hasSeals = await queryRunner.hasTable('audit_seals');
  if (!(hasSeals && begun)) await dropTables(queryRunner, tables);
  await createTables(queryRunner, tables);
}
