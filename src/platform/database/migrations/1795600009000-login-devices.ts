import type { QueryRunner } from 'typeorm';
import { ascii, time, uuid } from '../engine/columns.js';
import { Sessions1795600002000 } from './1795600002000-sessions.js';
import { TableMigration, addColumnOnce, defineColumn, key, optional } from './table-migration.js';

/**
 * Replaces the addresses from which users have logged in with the devices of the users. Adds the time at which a
 * session was confirmed.
 */
export class LoginDevices1795600009000 extends TableMigration {
  readonly tables = [
    {
      name: 'login_devices',
      withoutRowid: true,
      columns: [
        defineColumn('token_hash', ascii(64), key),
        defineColumn('user_uuid', uuid()),
        defineColumn('expires', time()),
      ],
      indices: [
        { name: 'ix_login_devices_user', columnNames: ['user_uuid'] },
        { name: 'ix_login_devices_expires', columnNames: ['expires'] },
      ],
    },
  ];

  override async up(queryRunner: QueryRunner): Promise<void> {
    await super.up(queryRunner);
    await queryRunner.dropTable('login_addresses', true);
    await addColumnOnce(queryRunner, 'sessions', defineColumn('confirmed', time(), optional));
  }

  override async down(queryRunner: QueryRunner): Promise<void> {
    await new Sessions1795600002000().up(queryRunner); // creates `login_addresses`, the only missing table
    await super.down(queryRunner);
    if (await queryRunner.hasColumn('sessions', 'confirmed'))
      await queryRunner.dropColumn('sessions', 'confirmed');
  }
}
