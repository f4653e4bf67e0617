import type { MigrationInterface, QueryRunner } from 'typeorm';
import { longText } from '../engine/columns.js';
import { addColumnOnce, defineColumn, optional } from './table-migration.js';

/** Adds the words of earlier files to runs, for the guard `unknown_word`. */
export class ImportWords1795600010000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await addColumnOnce(queryRunner, 'import_runs', defineColumn('words', longText(), optional));
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    if (await queryRunner.hasColumn('import_runs', 'words'))
      await queryRunner.dropColumn('import_runs', 'words');
  }
}
