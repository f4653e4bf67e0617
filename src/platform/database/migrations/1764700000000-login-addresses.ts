import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';
import { text, time, uuid } from '../engine/columns.js';
import { column, createTables, dropTables, key } from './table-columns.js';

const TABLES = [
  new Table({
    name: 'login_addresses',
    withoutRowid: true,
    columns: [
      column('user_uuid', uuid(), key),
      column('network', text(64), key),
      column('last_login', time()),
    ],
    indices: [{ name: 'ix_login_addresses_last', columnNames: ['last_login'] }],
  }),
];

/** The networks from which users have logged in: their right passwords are taken from there whoever else fails. */
export class LoginAddresses1764700000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await createTables(queryRunner, TABLES);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await dropTables(queryRunner, TABLES);
  }
}
