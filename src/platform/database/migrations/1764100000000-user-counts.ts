import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';
import { ascii, integer, text, uuid } from '../engine/columns.js';
import { column, createTables, dropTables, key } from './table-columns.js';

const COUNTERS = new Table({
  name: 'user_counters',
  withoutRowid: true,
  columns: [column('name', text(32), key), column('value', integer())],
});

const TABLES = [
  new Table({
    name: 'user_counts',
    withoutRowid: true,
    columns: [column('id', uuid(), key), column('name', ascii(32)), column('value', integer())],
  }),
  new Table({
    name: 'user_rules',
    withoutRowid: true,
    columns: [column('name', ascii(32), key), column('changes', integer())],
  }),
];

/** What is counted, each with the id of the row that holds the total so far. */
const COUNTED = ['Active', 'Blocked', 'webmasters'].map((name, index) => ({
  name,
  id: `00000000-0000-7000-8000-00000000000${index}`,
}));

/**
 * Totals become the sum of rows that are only inserted, where each change locked a row of its own kind of change (ADR 7).
 * Each statement can run again: the totals are copied only while none are there, and before the old ones go.
 */
export class UserCounts1764100000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await createTables(queryRunner, TABLES);
    for (const name of ['managers', 'webmasters']) {
      await insertOnce(queryRunner, 'user_rules', `'${name}', 0`, `name = '${name}'`);
    }
    if (!(await queryRunner.hasTable('user_counters'))) return; // a killed attempt came as far as its end
    for (const { name, id } of COUNTED) {
      const total = `(SELECT value FROM user_counters WHERE name = '${name}')`;
      await insertOnce(queryRunner, 'user_counts', `'${id}', '${name}', ${total}`, `id = '${id}'`);
    }
    await queryRunner.dropTable('user_counters');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await createTables(queryRunner, [COUNTERS]);
    if (await queryRunner.hasTable('user_counts')) {
      for (const { name } of COUNTED) {
        const total = `(SELECT COALESCE(SUM(value), 0) FROM user_counts WHERE name = '${name}')`;
        await insertOnce(queryRunner, 'user_counters', `'${name}', ${total}`, `name = '${name}'`);
      }
    }
    await insertOnce(queryRunner, 'user_counters', `'manager_changes', 0`, `name = 'manager_changes'`);
    await dropTables(queryRunner, TABLES);
  }
}

/** Inserts a row unless it is there. */
async function insertOnce(
  queryRunner: QueryRunner,
  table: string,
  values: string,
  row: string,
): Promise<void> {
  const found: unknown = await queryRunner.query(`SELECT 1 FROM ${table} WHERE ${row}`);
  if (Array.isArray(found) && found.length > 0) return;
  await queryRunner.query(`INSERT INTO ${table} VALUES (${values})`);
}
