import { type MigrationInterface, type QueryRunner, TableIndex } from 'typeorm';

const INDEXES: readonly [table: string, name: string, columnNames: string[]][] = [
  ['user_words', 'ix_user_words_user', ['user_uuid']],
  ['user_roles', 'ix_user_roles_user', ['user_uuid']],
];

/** Indexes that only the writer used, which knows the rows of the users that it changes (ADR 17). */
export class FewerIndexes1764400000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const [table, name] of INDEXES) {
      if (await hasIndex(queryRunner, table, name)) await queryRunner.dropIndex(table, name);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const [table, name, columnNames] of INDEXES) {
      if (await hasIndex(queryRunner, table, name)) continue;
      await queryRunner.createIndex(table, new TableIndex({ name, columnNames }));
    }
  }
}

/** A killed attempt may have gone that far: DDL is not transactional on MariaDB. */
async function hasIndex(queryRunner: QueryRunner, table: string, name: string): Promise<boolean> {
  const found = await queryRunner.getTable(table);
  return found?.indices.some((index) => index.name === name) ?? false;
}
