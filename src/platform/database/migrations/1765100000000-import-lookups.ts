import { type MigrationInterface, type QueryRunner, TableIndex } from 'typeorm';

const INDEXES: readonly (readonly [table: string, index: TableIndex])[] = [
  [
    'import_rows',
    new TableIndex({
      name: 'ix_import_rows_external_id',
      columnNames: ['run_id', 'external_id', 'line'],
    }),
  ],
  ['import_runs', new TableIndex({ name: 'ix_import_runs_reverts', columnNames: ['reverts', 'id'] })],
];

/** The rows of one person in a run, and the run that has undone another one. */
export class ImportLookups1765100000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const [table, index] of INDEXES)
      if (!(await hasIndex(queryRunner, table, index))) await queryRunner.createIndex(table, index);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const [table, index] of INDEXES)
      if (await hasIndex(queryRunner, table, index)) await queryRunner.dropIndex(table, index);
  }
}

async function hasIndex(queryRunner: QueryRunner, table: string, { name }: TableIndex): Promise<boolean> {
  const found = await queryRunner.getTable(table);
  return found?.indices.some((index) => index.name === name) ?? false;
}
