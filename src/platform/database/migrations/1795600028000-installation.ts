import { randomUUID } from 'node:crypto';
import type { QueryRunner } from 'typeorm';
import { int, uuid } from '../engine/columns.js';
import { TableMigration, defineColumn, insertOnce, key } from './table-migration.js';

export class Installation1795600028000 extends TableMigration {
  readonly tables = [
    {
      name: 'installation',
      withoutRowid: true,
      columns: [defineColumn('id', uuid(), key), defineColumn('epoch', int())],
    },
  ];

  override async up(queryRunner: QueryRunner): Promise<void> {
    await super.up(queryRunner);
    await insertOnce(queryRunner, 'installation', `'${randomUUID()}', 0`, 'epoch >= 0');
  }
}
