import type { MigrationInterface, QueryRunner } from 'typeorm';
import { int } from '../engine/columns.js';
import { addColumnOnce, defineColumn, optional } from './table-migration.js';

/** Adds the time that a run waited for decisions. It is unknown for older runs. */
export class ImportWaits1795600016000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    const column = defineColumn('waited_seconds', int(), { ...optional, default: null });
    await addColumnOnce(queryRunner, 'import_runs', column);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    if (await queryRunner.hasColumn('import_runs', 'waited_seconds'))
      await queryRunner.dropColumn('import_runs', 'waited_seconds');
  }
}
