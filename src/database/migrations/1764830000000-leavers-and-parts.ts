import { type MigrationInterface, type QueryRunner, TableColumn } from 'typeorm';
import { dropCollation, text } from '../engine/columns.js';
import { column, optional } from './table-columns.js';

const COLUMNS = [
  ['users', column('managed_part', text(64), optional)],
  ['users', column('blocked_by', text(64), optional)],
  ['import_runs', column('part', text(64), optional)],
] as const;

/** Why a user is blocked, so that who returns to a file is found; and data sets that come in several files. */
export class LeaversAndParts1764830000000 implements MigrationInterface {
  /** A killed attempt may have added some columns: DDL is not transactional on MariaDB. */
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const [table, options] of COLUMNS) {
      if (await queryRunner.hasColumn(table, options.name)) continue;
      const added = new TableColumn(options);
      if (queryRunner.dataSource.options.type === 'better-sqlite3') dropCollation(added);
      await queryRunner.addColumn(table, added);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const [table, { name }] of COLUMNS.toReversed()) {
      if (await queryRunner.hasColumn(table, name)) await queryRunner.dropColumn(table, name);
    }
  }
}
