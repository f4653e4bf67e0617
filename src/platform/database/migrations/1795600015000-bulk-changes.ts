import type { MigrationInterface, QueryRunner } from 'typeorm';
import { longText } from '../engine/columns.js';
import { addColumnOnce, defineColumn, optional } from './table-migration.js';

/** Adds the selection, the changes and the reason of bulk changes to runs. */
export class BulkChanges1795600015000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await addColumnOnce(queryRunner, 'import_runs', defineColumn('bulk', longText(), optional));
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    if (await queryRunner.hasColumn('import_runs', 'bulk'))
      await queryRunner.dropColumn('import_runs', 'bulk');
  }
}
