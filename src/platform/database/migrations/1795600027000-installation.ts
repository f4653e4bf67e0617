import { randomUUID } from 'node:crypto';
import type { QueryRunner } from 'typeorm';
import { ascii, int, time, uuid } from '../engine/columns.js';
import { TableMigration, insertOnce, key } from './table-migration.js';

/** The installation and its leases. */
export class Installation1795600027000 extends TableMigration {
  readonly tables = {
    installation: { withoutRowid: true, columns: { id: key(uuid()), epoch: int() } },
    leases: { withoutRowid: true, columns: { name: key(ascii(32)), owner: uuid(), until: time() } },
  };

  override async up(queryRunner: QueryRunner): Promise<void> {
    await super.up(queryRunner);
    await insertOnce(queryRunner, 'installation', `'${randomUUID()}', 0`, 'epoch >= 0');
  }
}
